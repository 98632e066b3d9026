#!/bin/sh
# How a variable comes to be, and the ways to read it.
. ./lib.sh
plain=$dir/Plain-$own both=$dir/Both-$own empty=$dir/Empty-$own none=$dir/None-$own

heading 'create: four bytes of attributes, then the data'
call open "$plain" 'WRONLY|CREAT|EXCL' , fstat , write 070000004142434445 , fstat , close , \
	stat "$plain"
call open "$plain" 'WRONLY|CREAT|EXCL'

heading 'the mode of a new file, less the umask'
umask 022
for file in Mode:0600 Wide:0777; do
	path=$dir/${file%:*}-$own
	call open "$path" 'WRONLY|CREAT' "${file#*:}" , write 0700000001 , close , stat "$path"
done

heading 'reads: whole, in pieces, past the end, after seeking'
read_back "$plain"
call open "$plain" RDONLY , read 2 , read 4 , read 100 , read 1
call open "$plain" RDONLY , seek 4 SET , read 5 , seek 0 END , seek -2 END , read 9 , \
	seek 100 SET , read 1 , seek -1 SET
call open "$plain" RDONLY , read 0 , seek 0 CUR

heading 'a file created and not yet written'
call open "$empty" 'RDWR|CREAT' , fstat , read 4 , stat "$empty" , close , stat "$empty"

heading 'reading and writing on one descriptor'
call open "$both" 'RDWR|CREAT' , write 0700000055 , read 9 , seek 0 SET , read 9 , fsync
unlock "$both"
call open "$both" RDWR , read 2 , write 070000005656 , seek 0 CUR , seek 0 SET , read 9

heading 'opening what is not there'
call open "$none" RDONLY , open "$none" RDWR , stat "$none"
