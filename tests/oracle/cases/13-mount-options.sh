#!/bin/sh
# Mounting and its options. It takes the file system off $EFIVARS, so it is
# for the guest only.
. ./lib.sh
timeout=$dir/Timeout-$global shared=$dir/Shared-$own

# remount OPTIONS CALL...: off and on again, then the calls.
remount() {
	options=$1
	shift
	call umount "$dir" , mount efivarfs "$dir" 0 "$options" "$@"
}

listed() { grep efivarfs /proc/mounts; }

for options in '' uid=1000 gid=1000 uid=1000,gid=1001 uid=4294967295 uid=x uid=; do
	heading "options: $options"
	remount "$options" , stat "$dir" , stat "$timeout"
	listed
done
for options in mode=700 nosuch statfs nostatfs size=1m ro; do
	heading "options: $options"
	remount "$options"
	listed || call mount efivarfs "$dir" 0 ''
done

heading 'mount flags'
call umount "$dir" , mount efivarfs "$dir" 0x1 '' , open "$dir/Ro-$own" 'WRONLY|CREAT' , \
	unlink "$timeout" , open "$timeout" RDONLY , setflags 0x10
listed

heading 'remount (flag 0x20)'
call mount none "$dir" 0x20 '' , mount none "$dir" 0x20 uid=1000 , \
	mount none "$dir" 0x20 nosuch , mount none "$dir" 0x21 ''
call stat "$timeout"
listed
call mount none "$dir" 0x20 ''

heading 'a second mount shows the same files'
mkdir -p /tmp/second
call mount efivarfs /tmp/second 0 uid=1000
call open "$shared" 'WRONLY|CREAT' , write 0700000041 , close
# shellcheck disable=SC2010 # a count of names
ls /tmp/second | grep -c Shared
call stat "/tmp/second/Shared-$own" , umount /tmp/second

heading 'unmounted and mounted again: the immutable flag is back, attributes of files are not kept'
unlock "$shared"
call chmod 600 "$shared" , open "$shared" RDONLY , flags , close
remount '' , stat "$shared" , open "$shared" RDONLY , flags

heading 'what the kernel lists'
grep efivarfs /proc/filesystems
