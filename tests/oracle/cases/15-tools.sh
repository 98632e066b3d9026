#!/bin/sh
# The programs that people use on these files: efivar and efibootmgr.
. ./lib.sh
tool=$dir/Tool-$own

# entry NUMBER LABEL: a load option, active, of a PCI device.
entry() {
	label=$(printf %s "$2" | od -An -v -tx1 | tr -d '\n' | sed 's/ *\(..\)/\100/g')
	device=02010c00d041030a00000000+010106000003+7fff0400
	create "$dir/Boot$1-$global" "07000000+01000000+1600+${label}0000+$device"
}

efivar -l | sort | head -n 5
efivar -l | wc -l
efivar -p -n "$global-Timeout"
efibootmgr

heading 'three entries by hand, then efibootmgr at work'
entry 0001 One
entry 0002 Two
entry 000A Ten
for options in -v '-o 000a,1,2' '-n 2' '-t 7' '-A -b 1' '-B -b 2' -N -N '-b 7 -B' \
	'-c -l x -d /dev/nosuch' -T -O
do
	# shellcheck disable=SC2086 # several words
	efibootmgr $options
done
read_back "$dir/Boot0001-$global"
call list "$dir" | tr ' ' '\n' | grep ^Boot

heading 'efivar writes and reads'
data=$(mktemp)
printf abc >"$data"
efivar -w -n "$own-Tool" -f "$data"
efivar -w -n "$own-Tool" -t 7 -f "$data"
efivar -p -n "$own-Tool"
read_back "$tool"
call open "$tool" RDONLY , flags
unlock "$tool"
efivar -a -n "$own-Tool" -f "$data"
read_back "$tool"
rm "$data"

heading 'as a user'
as_user 1000 efibootmgr
as_user 1000 efibootmgr -t 3
