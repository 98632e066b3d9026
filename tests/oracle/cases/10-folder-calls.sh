#!/bin/sh
# The folder: plain files, no folders in it, and nothing else.
. ./lib.sh
file=$dir/Dir-$own other=$dir/Other-$own
create "$file" 0700000041

call stat "$dir" , access W "$dir" , open "$dir" RDONLY , read 1 , fsync , open "$dir" WRONLY
call mkdir "$other" , mkdir "$dir/plain" , rmdir "$dir" , rmdir "$file"
call symlink "$file" "$other" , symlink /tmp "$dir/plain" , link "$file" "$other" , mkfifo "$other"
call rename "$file" "$other" , rename "$file" "$file" , rename "$file" /tmp/x , \
	rename "$other" "$file"
call open "$file" 'RDONLY|DIRECTORY' , open "$file/" RDONLY , open "$file" 'RDONLY|NOFOLLOW'
call chmod 700 "$dir" , chown 1000 1000 "$dir" , stat "$dir" , utime 1 "$dir"
call stat "$file/x" , open "$other/x" 'WRONLY|CREAT' , readlink "$file"
read_back "$file"
