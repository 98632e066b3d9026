#!/bin/bash
# Debian's efivar and efibootmgr on a mounted image, which afterwards holds what they made of it.
. "$(dirname "$0")/../lib.sh"
needs_fuse
needs_root
needs efivar efibootmgr
[ -f "$ovmf/$1" ] || skip "$1 is not installed"
guid=20230501-1234-5678-9abc-def012345678
image=$work/vars.fd
mkdir "$work/dir"
cp "$ovmf/$1" "$image"
"$EFIVARIUM" mount "$image" "$work/dir"
export EFIVARFS_PATH=$work/dir/

before=$(efivar -l | wc -l)
is 'names as the folder lists them' "$before" "$(find "$work/dir" -type f | wc -l)"
printf abc >"$work/data"
efivar -w -n "$guid-Tool" -t 7 -f "$work/data"
efivar -p -n "$guid-Tool" | has '61 62 63' || fail 'efivar -p'
efivar -l | has -x "$guid-Tool" || fail 'efivar -l'

# A disk with a partition to point an entry at.
truncate -s 8M "$work/disk"
printf 'label: gpt\nstart=2048, size=8192, type=U\n' | sfdisk -q "$work/disk" 2>/dev/null || :
if loop=$(losetup -f -P --show "$work/disk" 2>/dev/null); then
	efibootmgr -q -c -d "$loop" -p 1 -l '\EFI\test.efi' -L 'Made here' || { losetup -d "$loop"; fail 'efibootmgr -c'; }
	losetup -d "$loop"
	made=$(efibootmgr | sed -n 's/^Boot\(....\)\* Made here.*/\1/p')
	efibootmgr -v | has -a 'Made here.*HD(1,GPT,' || fail 'efibootmgr -v'
else
	echo 'no loop devices: an entry is made by hand'
	made=00AB
	printf '\7\0\0\0\1\0\0\0\x16\0M\0\0\0\2\1\x0c\0\xd0\x41\3\x0a\0\0\0\0\1\1\6\0\0\3\x7f\xff\4\0' \
		>"$work/dir/Boot00AB-8be4df61-93ca-11d2-aa0d-00e098032b8c"
fi
efibootmgr -q -o "$made"
efibootmgr | has "^BootOrder: $made" || fail 'efibootmgr -o'
efibootmgr -q -c -d /dev/nosuch -l x 2>/dev/null && fail 'made an entry on no disk'
"$EFIVARIUM" ls "$work/dir" | sort >"$work/mounted"
"$EFIVARIUM" umount "$work/dir"

# The image, opened again: every variable of the mount that is not volatile, and no other but those
# for boot time.
"$EFIVARIUM" check "$image"
"$EFIVARIUM" ls "$image" | grep 'rt' | sort >"$work/stored"
diff <(grep '^nv' "$work/mounted") "$work/stored" || fail 'the image differs from the mount'
"$EFIVARIUM" mount "$image" "$work/dir"
diff <("$EFIVARIUM" ls "$work/dir" | sort) "$work/mounted" || fail 'mounted again it differs'
efibootmgr -q -b "$made" -B
efibootmgr | has "^Boot$made" && fail 'efibootmgr -B'
"$EFIVARIUM" umount "$work/dir"
"$EFIVARIUM" get "$image" "Boot$made-8be4df61-93ca-11d2-aa0d-00e098032b8c" 2>/dev/null && fail 'still there'
is 'size of the file' "$(stat -c %s "$image")" "$(stat -c %s "$ovmf/$1")"
