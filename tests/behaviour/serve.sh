#!/bin/bash
# A folder of stores in one mount: what is listed, mounts inside it, and files that come and go.
. "$(dirname "$0")/../lib.sh"
needs_fuse
guid=20230501-1234-5678-9abc-def012345678
e=$EFIVARIUM
mkdir "$work/stores" "$work/dir"
for n in 1 2 3; do blank "$work/stores/vm$n.fd"; done
echo 'no store' >"$work/stores/broken"
mkdir "$work/stores/folder"
echo hidden >"$work/stores/.hidden"

# becomes WHAT WANTED COMMAND...: within five seconds the command prints it.
becomes() {
	local what=$1 wanted=$2 got
	shift 2
	for _ in $(seq 100); do
		got=$("$@" 2>&1) || :
		if [ "$got" = "$wanted" ]; then return; fi
		sleep 0.05
	done
	fail "$what: got '$got', wanted '$wanted'"
}
names() { ls "$work/dir" | tr '\n' ' '; }
inside() { "$e" mounts | sed -n "s|.* on $work/dir/\([^ ]*\) (.*|\1|p" | sort | tr '\n' ' '; }

refuses 1 'No such file' "$e" serve "$work/none" "$work/dir"
refuses 1 'cannot watch' "$e" serve "$work/stores/vm1.fd" "$work/dir"
refuses 1 'unknown mount option' "$e" serve -o nosuch "$work/stores" "$work/dir"
refuses 1 'umount is expedited' "$e" serve -o umount=never "$work/stores" "$work/dir"
refuses 1 'serve alone' "$e" mount -o umount=normal "$work/stores/vm1.fd" "$work/dir"

"$e" serve "$work/stores" "$work/dir"
is 'folders' "$(names)" 'broken vm1.fd vm2.fd vm3.fd '
is 'the broken one is empty' "$(ls "$work/dir/broken")" ''
"$e" mounts | has "on $work/dir/broken (ro.*): too short to be a variable store" || fail 'no reason told'
inode=$(stat -c %i "$work/dir/broken")
"$e" set "$work/dir/vm1.fd" "Var-$guid" --data one
is 'each store has its own space' "$(df -B1 --output=used "$work/dir/vm2.fd" | tail -1 | tr -d ' ')" 0
[ "$(df -B1 --output=used "$work/dir/vm1.fd" | tail -1)" -gt 0 ] || fail 'nothing used'
is 'inode numbers' "$(stat -c %i "$work/dir"/vm?.fd | sort -u | wc -l)" 3

# Options are each store's own.
"$e" remount -o nostatfs "$work/dir/vm2.fd"
is 'nostatfs' "$(stat -f -c %b "$work/dir/vm2.fd")" 0
[ "$(stat -f -c %b "$work/dir/vm1.fd")" -gt 0 ] || fail 'nostatfs reached another store'
refuses 1 'unknown mount option' "$e" remount -o nosuch=1 "$work/dir/vm1.fd"
"$e" remount -o umount=deferred,rcu_normal=1 "$work/dir"
"$e" mounts | has "on $work/dir (rw,.*umount=deferred,rcu_normal=1)" || fail 'the policy is not shown'

# An open file holds its store; a lazy unmount lets it be read on.
exec 7<"$work/dir/vm1.fd/Var-$guid"
refuses 1 'process' "$e" umount "$work/dir/vm1.fd"
"$e" umount -l "$work/dir/vm1.fd"
is 'nothing there' "$(ls "$work/dir/vm1.fd")" ''
is 'read on' "$(tail -c +5 <&7)" one
exec 7<&-
# Deferred, and the same store at once.
"$e" mount -o nostatfs "$work/stores/vm1.fd" "$work/dir/vm1.fd"
is 'as it was' "$("$e" get --raw "$work/dir/vm1.fd" "Var-$guid")" one
"$e" umount "$work/dir/vm1.fd"
"$e" mount "$work/stores/vm1.fd" "$work/dir/vm1.fd"
refuses 1 'in use' "$e" mount "$work/stores/vm1.fd" "$work/dir/broken"
refuses 1 'no such file' "$e" umount "$work/dir/nosuch"

# Many at once; what stays is told, the rest goes.
exec 7<"$work/dir/vm2.fd"
refuses 1 "$work/dir/vm2.fd" "$e" umount "$work"/dir/vm?.fd
exec 7<&-
is 'left' "$(inside)" 'broken vm2.fd '
"$e" umount -R "$work/dir/vm2.fd"
"$e" ls "$work/stores/vm1.fd" | has "Var-$guid" || fail 'the variable is not in the file'
"$e" ls "$work/stores/vm2.fd" >/dev/null

# What nobody has written is not tried again, not even after our own look at it.
is 'left alone' "$(stat -c %i "$work/dir/broken")" "$inode"
# Files come, are mended, and go.
blank "$work/new"
cat "$work/new" >"$work/stores/broken"
becomes 'mended' 'broken ' inside
mv "$work/new" "$work/stores/vm4.fd"
becomes 'moved in' 'broken vm4.fd ' inside
is 'and seen' "$(names)" 'broken vm1.fd vm2.fd vm3.fd vm4.fd '
rm "$work/stores/vm4.fd"
becomes 'gone' 'broken vm1.fd vm2.fd vm3.fd ' names

# Folders of one's own are mount points too.
mkdir "$work/dir/mine"
"$e" mount "$work/stores/vm3.fd" "$work/dir/mine"
if rmdir "$work/dir/mine" 2>/dev/null; then fail 'a mount point was removed'; fi
"$e" umount "$work/dir/mine"
rmdir "$work/dir/mine"

# Killed and served again: nothing acknowledged is lost.
"$e" set "$work/dir/broken" "Last-$guid" --data kept
pid=$("$e" mounts --json | sed -n "\|\"$work/dir\"|,/pid/s/.*\"pid\": \([0-9]*\).*/\1/p" | head -1)
kill -9 "$pid"
"$e" umount "$work/dir"
"$e" serve -o ro "$work/stores" "$work/dir"
is 'after a kill' "$("$e" get --raw "$work/dir/broken" "Last-$guid")" kept
if touch "$work/dir/vm1.fd/X-$guid" 2>/dev/null; then fail 'written in a read-only mount'; fi
"$e" umount "$work/dir"
is 'all is ended' "$("$e" mounts | grep -c "$work" || :)" 0
