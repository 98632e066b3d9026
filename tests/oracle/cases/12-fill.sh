#!/bin/sh
# A store filled to the last byte that it gives, then emptied.
. ./lib.sh

# attempt NAME SIZE: $answer is what creating it prints; false if refused.
attempt() {
	answer=$(call open "$dir/$1-$own" 'WRONLY|CREAT' , write "07000000+41*$2" , close)
	! echo "$answer" | grep -q '^write.*= E'
}

# repeat PREFIX SIZE: $taken is how many such variables were.
repeat() {
	taken=0
	while attempt "$1$taken" "$2"; do taken=$((taken + 1)); done
}

# shown NAME SIZE
shown() {
	attempt "$@" || :
	echo "$answer"
}

space
heading 'variables of 8000 bytes until one is refused'
repeat Fill 8000
echo "taken: $taken"
echo "$answer"
space
call stat "$dir/Fill$taken-$own"

heading 'ever smaller ones'
for size in 4000 2000 1000 500 100 10 1; do
	repeat S$size. $size
	echo "$size bytes: taken $taken, then $(echo "$answer" | grep ^write)"
done
space

heading 'in the full store: overwrite, delete, volatile'
unlock "$dir/Fill0-$own"
call open "$dir/Fill0-$own" WRONLY , write 0700000042
call open "$dir/Fill0-$own" WRONLY , write 07000000+42*8000
call open "$dir/Ram-$own" 'WRONLY|CREAT' , write 0600000041
unlock "$dir/Fill1-$own"
call unlink "$dir/Fill1-$own"
space
shown After 100
space

heading 'everything deleted'
for file in "$dir"/Fill*-"$own" "$dir"/S*-"$own"; do
	[ -e "$file" ] || continue
	unlock "$file"
	rm -f "$file" || echo "cannot delete ${file##*/}"
done
space

heading 'and then written again'
shown After 100
space
shown Again 8000
space
