#!/bin/sh
# What else can be done to a variable's file.
. ./lib.sh
file=$dir/File-$own timeout=$dir/Timeout-$global
create "$file" 0700000041424344

heading 'truncate, both ways'
call truncate "$file" 0 , stat "$file" , truncate "$file" 100 , stat "$file" , \
	truncate "$file" 8 , stat "$file"
call open "$file" RDWR , ftruncate 0 , fstat , ftruncate 50 , fstat
read_back "$file"

heading 'mode, owner, times'
call chmod 600 "$file" , stat "$file" , chmod 4777 "$file" , stat "$file" , \
	chown 1000 1000 "$file" , stat "$file" , utime 1000 "$file"
stat -c 'mtime %Y blocks %b of %B io %o' "$file"

heading 'mode after the variable is written again'
call open "$file" WRONLY , write 0700000045 , close , stat "$file"

heading 'an empty file before its first write'
call open "$dir/Void-$own" 'RDWR|CREAT' , ftruncate 10 , fstat , ftruncate 0 , \
	write 0700000041 , fstat

heading 'a user, by the mode bits'
call open "$timeout" RDONLY , fstat
user_call open "$timeout" RDONLY , readall , open "$timeout" RDWR
call chmod 600 "$timeout"
user_call open "$timeout" RDONLY
