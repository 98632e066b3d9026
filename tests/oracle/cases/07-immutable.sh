#!/bin/sh
# The immutable flag (0x10): which variables have it, what it forbids, who may
# change it.
. ./lib.sh
option=01000000+0400+4f000000+7fff0400	# a load option called O, of no device
number=0100
vendor=$dir/Vendor-$own

# life DATA NAME...: the flags before the first write, after it, and later.
life() {
	data=$1
	shift
	for name; do
		call open "$dir/$name" 'WRONLY|CREAT' , flags , write "07000000+$data" , flags , \
			close , open "$dir/$name" RDONLY , flags
	done
}

heading 'flags of new variables by name (0x10 is immutable)'
life $option "Boot0001-$global" "Driver0001-$global" "SysPrep0001-$global" "OsRecovery0001-$global"
life $number "BootNext-$global" "DriverOrder-$global" "SysPrepOrder-$global"
life 0000000000000000 "OsIndications-$global"
life 656e00 "PlatformLang-$global"
life $number "BootXYZ-$global" "BootCurrent-$global"
life 41 "Vendor-$own"
life $option "Boot0001-$own"
# The vendor of the kernel's crash dumps, and that of a boot loader.
dumps=cfc8fc79-be2e-4ddc-97f0-9f98bfe298a0
life 41 "dump-type0-1-1-1234-C-$own" "dump-type0-1-1-1234-C-$dumps" "other-$dumps" \
	LoaderEntrySelected-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f

heading 'flags of the variables that the firmware made'
for file in "$dir"/*-"$global"; do
	echo "${file##*/} $(call open "$file" RDONLY , flags | tail -n 1)"
done

heading 'what the flag stops'
call open "$vendor" WRONLY , open "$vendor" RDWR , open "$vendor" RDONLY , unlink "$vendor" , \
	chmod 600 "$vendor" , chown 1 1 "$vendor" , utime 1 "$vendor" , truncate "$vendor" 0
call rename "$vendor" "$dir/Other-$own" , access W "$vendor"

heading 'a descriptor that was open for writing before the flag came'
early=$dir/Early-$own
call open "$early" 'WRONLY|CREAT' , write 0700000041 , flags , write 0700000042 , close
read_back "$early"
call open "$early" WRONLY

heading 'changing it'
call open "$vendor" RDONLY , setflags 0 , flags , setflags 0x10 , flags
for other in 0x20 0x30 0x40 0x8 0x80000; do
	call open "$vendor" RDONLY , setflags $other , flags
done
call open "$vendor" RDONLY , setflags 0 , close , \
	open "$vendor" WRONLY , write 0700000043 , flags , close , open "$vendor" RDONLY , flags

heading 'on the folder'
call open "$dir" RDONLY , flags , setflags 0x10

heading 'as a user'
user_call open "$vendor" RDONLY , flags , setflags 0x10 , open "$vendor" WRONLY , \
	unlink "$vendor" , open "$dir/New-$own" 'WRONLY|CREAT' , access R "$vendor" , access W "$vendor"
