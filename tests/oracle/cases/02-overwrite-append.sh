#!/bin/sh
# Writing to a variable that is there: in place of its data, or after it.
. ./lib.sh
over=$dir/Over-$own fresh=$dir/Fresh-$own never=$dir/Never-$own
create "$over" 0700000041424344

heading 'a write replaces the whole value, wherever the file offset is'
call open "$over" WRONLY , write 070000005a , fstat , write 0700000051525354555657 , fstat
read_back "$over"
call open "$over" WRONLY , seek 6 SET , write 0700000058
read_back "$over"
call open "$over" 'WRONLY|APPEND' , write 0700000059
read_back "$over"

heading 'O_TRUNC alone changes nothing'
call open "$over" 'WRONLY|TRUNC' , fstat , close , stat "$over"
read_back "$over"

heading 'append: attribute 0x40 is an order, not a property'
call open "$over" WRONLY , write 470000004142 , fstat
read_back "$over"

heading 'append nothing'
call open "$over" WRONLY , write 47000000 , fstat
read_back "$over"

heading 'append to a variable that is not there'
call open "$fresh" 'WRONLY|CREAT' , write 470000004142 , close
read_back "$fresh"

heading 'append nothing to a variable that is not there'
call open "$never" 'WRONLY|CREAT' , write 47000000 , close , stat "$never"

heading 'two descriptors: a reader sees what another wrote'
call open "$over" RDONLY , as reader , read 4 , \
	open "$over" WRONLY , write 0700000061626364 , close , \
	use reader , read 9 , seek 0 SET , read 9
