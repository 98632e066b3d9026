#!/bin/sh
# The free space that statfs and df see, before and after changes.
. ./lib.sh
fill=$dir/Fill-$own

heading 'at first'
space
call statfs "$dir/Timeout-$global"
df -B1 --output=size,used,avail,pcent,itotal "$dir"
stat -f -c '%t %T block %s/%S total %b free %f avail %a files %c/%d namelen %l' "$dir"

heading 'a new variable: header and name and data are paid for'
create "$fill" 07000000+41*1000
space

heading 'written again, same size: the old copy is not given back'
call open "$fill" WRONLY , write 07000000+42*1000
space

heading 'written again with the same bytes'
call open "$fill" WRONLY , write 07000000+42*1000
space

heading 'deleted'
call unlink "$fill"
space

heading 'a user may ask too'
sleep 2.1
user_call statfs "$dir"
