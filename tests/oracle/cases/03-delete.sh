#!/bin/sh
# Deleting: by unlink, and by writes that leave no data.
. ./lib.sh
gone=$dir/Gone-$own never=$dir/Never-$own

# erase BYTES: writes them to a variable made for it; is it still there?
erase() {
	create "$gone" 0700000041
	call open "$gone" WRONLY , write "$1" , close , stat "$gone"
}

heading 'unlink, first with the immutable flag'
call open "$gone" 'WRONLY|CREAT' , write 0700000041 , close , unlink "$gone"
call open "$gone" RDONLY , flags , setflags 0 , flags , close , \
	unlink "$gone" , stat "$gone" , unlink "$gone"

heading 'attributes without data'
create "$gone" 0700000041
call open "$gone" WRONLY , write 07000000 , fstat , write 0700000042 , fstat , close , stat "$gone"
unlock "$gone"
call unlink "$gone"

heading 'attributes without data, and then the descriptor is closed'
erase 07000000

heading 'attributes of zero, with and without data'
erase 00000000
erase 0000000041
unlock "$gone"
call unlink "$gone"

heading 'other attributes without data'
erase 06000000
erase 03000000
unlock "$gone"
call unlink "$gone"

heading 'attributes without data, for a variable that never was'
call open "$never" 'WRONLY|CREAT' , write 07000000 , close , stat "$never"

heading 'an open descriptor outlives the variable'
create "$gone" 0700000041
call open "$gone" RDWR , as late , unlink "$gone" , \
	use late , read 9 , fstat , write 0700000042 , fstat , close , stat "$gone"

heading 'deleted by one descriptor, read by another'
create "$gone" 0700000041
call open "$gone" RDONLY , as reader , open "$gone" WRONLY , write 07000000 , close , \
	use reader , fstat , read 9 , stat "$gone" , close , stat "$gone"

heading 'made anew under the same name'
create "$gone" 0700000043
read_back "$gone"
