#!/bin/sh
# Writes without all the attributes, and with attributes that make no sense.
. ./lib.sh
bad=$dir/Bad-$own

# attempt BITS ATTRIBUTES: creates a variable that is named after the bits.
attempt() {
	call open "$dir/A$1-$own" 'WRONLY|CREAT' , write "${2}41" , close , stat "$dir/A$1-$own"
}

heading 'fewer than four bytes, new file'
for bytes in '' 07 0700 070000; do
	call open "$bad" 'WRONLY|CREAT' , write "$bytes" , close , stat "$bad"
	unlock "$bad"
	call unlink "$bad"
done

heading 'fewer than four bytes, variable that exists'
create "$bad" 0700000041
for bytes in '' 07 0700 070000; do
	call open "$bad" WRONLY , write "$bytes"
done
read_back "$bad"

heading 'attributes on a new variable; the first byte is the low one'
for low in 00 01 02 03 04 05 06 07 08 0f 10 17 20 27 37 40 47 80 87; do
	attempt $low ${low}000000
done
for all in 07010000 07000080 ffffffff; do
	attempt $all $all
done

heading 'the same attributes on a variable that exists (07)'
for low in 00 01 02 03 04 05 06 0f 17 27 47 87; do
	create "$bad" 0700000041 >/dev/null
	call open "$bad" WRONLY , write ${low}00000042 , fstat , close , open "$bad" RDONLY , readall
done
