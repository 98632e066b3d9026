#!/bin/bash
# The real mount(8) with our helpers: mount -t, an fstab line, remount of statfs and ro. All in a
# mount namespace of its own, in which the helpers stand in /sbin.
. "$(dirname "$0")/../lib.sh"
needs_fuse
needs_root
needs unshare
if [ "${1:-}" != inside ]; then
	EFIVARIUM=$EFIVARIUM unshare -m --propagation private "$0" inside
	exit
fi
mkdir "$work/dir" "$work/upper" "$work/lower"
sbin=$(readlink -f /sbin)
mount -t tmpfs tmpfs "$work/upper"
mkdir "$work/upper/up" "$work/upper/work"
mount -t overlay overlay -o "lowerdir=$sbin,upperdir=$work/upper/up,workdir=$work/upper/work" "$sbin" ||
	skip 'no overlay file system to put the helpers into /sbin'
ln -s "$EFIVARIUM" "$sbin/mount.efivarium"
ln -s "$EFIVARIUM" "$sbin/mount.fuse.efivarium"
blank "$work/vars.fd"
shown() { "$EFIVARIUM" mounts | sed -n "s|.* on $work/dir (\(.*\))|\1|p"; }
total() { stat -f -c %b "$work/dir"; }

mount -t efivarium "$work/vars.fd" "$work/dir" -o nostatfs
is 'options' "$(shown)" rw,nostatfs
is 'blocks' "$(total)" 0
is 'type' "$(findmnt -no FSTYPE "$work/dir")" fuse.efivarium
mount -o remount,statfs "$work/dir"
is 'options' "$(shown)" rw
is 'blocks' "$(total)" 262044
mount -o remount,nostatfs "$work/dir"
is 'blocks' "$(total)" 0
mount -o remount,ro "$work/dir"
is 'an unrelated remount preserves' "$(shown)" ro,nostatfs
: 2>/dev/null >"$work/dir/X-20230501-1234-5678-9abc-def012345678" && fail 'written while read-only'
mount -o remount,rw,uid=5 "$work/dir"
is 'uid of a remount is dead' "$(stat -c %u "$work/dir")" 0
mount -o remount,nosuch "$work/dir" 2>/dev/null && fail 'took an unknown option'
is 'a failed remount changes nothing' "$(shown)" rw,nostatfs
umount "$work/dir"

printf '%s %s fuse.efivarium noauto,nostatfs,uid=1000,x-test 0 0\n' "$work/vars.fd" "$work/dir" >"$work/fstab"
mount -T "$work/fstab" "$work/dir"
is 'options from fstab' "$(shown)" rw,uid=1000,nostatfs
is 'owner from fstab' "$(stat -c %u "$work/dir")" 1000
umount "$work/dir"

# A store that cannot be written: rw is refused, and nothing else of that remount is taken.
mount -t efivarium "$work/vars.fd" "$work/dir" -o ro
mount -o remount,rw,nostatfs "$work/dir" 2>/dev/null && fail 'made a read-only store writable'
is 'options' "$(shown)" ro
umount "$work/dir"
