#!/bin/sh
# How big a variable may be. The firmware limits the sum of header, name and
# data; the kernel limits nothing but what it can allocate.
. ./lib.sh
held=$dir/Held-$own

# largest NAME: tries sizes downwards, until one is taken; then one byte more.
# What the firmware refuses takes no room in the store.
largest() {
	file=$dir/$1-$own size=33740
	until
		answer=$(call open "$file" 'WRONLY|CREAT' , write "07000000+41*$size" , fstat , \
			setflags 0 , unlink "$file")
		! echo "$answer" | grep -q '^write.*= E'
	do
		size=$((size - 1))
	done
	echo "$answer"
	call open "$file" 'WRONLY|CREAT' , write "07000000+41*$((size + 1))" , fstat , \
		setflags 0 , close , stat "$file"
}

heading 'the largest that is taken, and one more'
largest B
largest BiggerName

heading 'far too big'
huge=$dir/Huge-$own
for size in 65536 131072 300000 1048572 1048573 2000000 4194300 4194301 5000000; do
	call open "$huge" 'WRONLY|CREAT' , write "07000000+41*$size" , setflags 0 , close , stat "$huge"
done

heading 'too big for a variable that exists'
create "$held" 0700000041
call open "$held" WRONLY , write 07000000+41*100000 , fstat
read_back "$held"

heading 'growing by append'
call open "$held" WRONLY , write 47000000+42*20000 , fstat , write 47000000+42*20000 , fstat
