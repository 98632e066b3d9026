#!/bin/sh
# Variables that are volatile, read-only, authenticated, or whose data the
# firmware looks into.
. ./lib.sh

# set_global NAME BYTES, new_global NAME BYTES
set_global() { call open "$dir/$1-$global" WRONLY , write "$2"; }
new_global() { call open "$dir/$1-$global" 'WRONLY|CREAT' , write "$2"; }

heading 'a volatile variable (06): not at run time'
call open "$dir/Ram-$own" 'WRONLY|CREAT' , write 0600000041 , close , stat "$dir/Ram-$own"

heading 'firmware variables that are read-only or volatile'
for name in SecureBoot SetupMode Lang OsIndicationsSupported BootOptionSupport; do
	file=$dir/$name-$global
	read_back "$file"
	unlock "$file"
	call open "$file" WRONLY , write 0600000000 , write 0700000000
	call unlink "$file"
done

heading 'a variable of the firmware that may be set'
timeout=$dir/Timeout-$global
read_back "$timeout"
call open "$timeout" WRONLY , write 070000000500 , write 0600000005
read_back "$timeout"

heading 'values that the firmware checks'
new_global OsIndications 070000000100000000000000
set_global OsIndications 0700000001
new_global BootNext 070000000100
set_global BootNext 070000000102ff
set_global BootOrder 0700000001
new_global Boot0009 0700000001
set_global PlatformLang 07000000656e00
set_global PlatformLang 07000000787800
new_global NoSuchGlobal 0700000001

heading 'authenticated variables without a signature'
for key in PK-$global KEK-$global db-d719b2cb-3d3a-4596-a3bc-dad00e67656f; do
	file=$dir/$key
	# A file that was refused its data keeps the flag until it is closed.
	call open "$file" 'WRONLY|CREAT' , write 2700000041 , setflags 0 , close , stat "$file"
	call open "$file" 'WRONLY|CREAT' , write 0700000041 , close , stat "$file"
done
call open "$dir/Auth-$own" 'WRONLY|CREAT' , write 2700000041 , close , stat "$dir/Auth-$own"
