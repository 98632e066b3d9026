#!/bin/bash
# An ordinary user mounts, through fusermount3, a store of their own.
. "$(dirname "$0")/../lib.sh"
needs_fuse
needs fusermount3
if [ "$(id -u)" = 0 ]; then
	needs setpriv unshare
	if [ "${1:-}" != inside ]; then
		unshare -m --propagation private "$0" inside
		exit
	fi
	# Where no udev has done it, a device that everybody may open.
	mknod -m 666 "$work/fuse" c 10 229
	mount --bind "$work/fuse" /dev/fuse
	as=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
else
	as=()
fi
[ -u "$(command -v fusermount3)" ] || skip 'fusermount3 is not set-user-id here'
mkdir "$work/dir" "$work/own"
[ ${#as[@]} -eq 0 ] || chown nobody: "$work" "$work/dir" "$work/own"
"${as[@]}" test -x "$EFIVARIUM" || { cp "$EFIVARIUM" "$work/efivarium"; EFIVARIUM=$work/efivarium; }
"${as[@]}" "$EFIVARIUM" create "$work/own/vars.fd"
"${as[@]}" "$EFIVARIUM" mount "$work/own/vars.fd" "$work/dir"
file=$work/dir/Mine-20230501-1234-5678-9abc-def012345678
"${as[@]}" sh -c "printf '\7\0\0\0data' >$file"
is 'owner' "$("${as[@]}" stat -c %u "$file")" "$("${as[@]}" id -u)"
is 'content' "$("${as[@]}" tail -c +5 "$file")" data
"${as[@]}" "$EFIVARIUM" remount -o nostatfs "$work/dir"
"${as[@]}" "$EFIVARIUM" mounts | has "on $work/dir (.*nostatfs)" || fail mounts
"${as[@]}" "$EFIVARIUM" umount "$work/dir"
is 'stored' "$("${as[@]}" "$EFIVARIUM" get --raw "$work/own/vars.fd" Mine-20230501-1234-5678-9abc-def012345678)" data
