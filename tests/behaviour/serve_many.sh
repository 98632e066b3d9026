#!/bin/bash
# Thousands of stores in one mount: all are there, one write reaches one file, all go at once, and
# a server that is killed loses nothing.
. "$(dirname "$0")/../lib.sh"
needs_fuse
many=5001
e=$EFIVARIUM
guid=20230501-1234-5678-9abc-def012345678
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt $((many + 100)) ] ||
	skip "a process may not open $many files"
[ "$(df -k --output=avail "$work" | tail -1)" -gt $((many * 1200)) ] || skip "no room for $many stores"
mkdir "$work/stores" "$work/dir"
blank "$work/blank"
for first in $(seq 1 500 $many); do
	last=$((first + 499 < many ? first + 499 : many))
	(cd "$work/stores" && tee $(seq -f 'vm%.0f.fd' "$first" "$last") <"$work/blank" >/dev/null)
done
cmp "$work/blank" "$work/stores/vm$many.fd"
touch "$work/made"
pid() { "$e" mounts --json | sed -n "\|\"$work/dir\"|,/pid/s/.*\"pid\": \([0-9]*\).*/\1/p" | head -1; }
inside() { "$e" mounts | grep -c " on $work/dir/" || :; }
changed() { (cd "$work/stores" && find . -newer "$work/made" | tr '\n' ' '); }

is 'nothing is said in a pipe' "$("$e" serve "$work/stores" "$work/dir" 2>&1)" ''
is 'all listed' "$(ls "$work/dir" | wc -l)" $many
is 'all mounted' "$(inside)" $many
is 'none is in trouble' "$("$e" mounts | grep -c "$work/dir/.*): " || :)" 0
is 'none was written' "$(changed)" ''
"$e" set "$work/dir/vm2500.fd" "Var-$guid" --data one
is 'read back' "$("$e" get --raw "$work/dir/vm2500.fd" "Var-$guid")" one
is 'one was written' "$(changed)" './vm2500.fd '

kill -9 "$(pid)"
"$e" umount "$work/dir"
is 'in its file' "$("$e" get --raw "$work/stores/vm2500.fd" "Var-$guid")" one
"$e" serve "$work/stores" "$work/dir"
is 'all listed again' "$(ls "$work/dir" | wc -l)" $many
is 'not lost' "$("$e" get --raw "$work/dir/vm2500.fd" "Var-$guid")" one
exec 7<"$work/dir/vm2500.fd/Var-$guid"
(cd "$work/dir" && refuses 1 "$work/dir/vm2500.fd" "$e" umount vm*)
is 'all but the one in use are unmounted' "$(inside)" 1
exec 7<&-
"$e" umount "$work/dir/vm2500.fd"
is 'none is left' "$(inside)" 0
is 'folders stay' "$(ls "$work/dir" | wc -l)" $many
"$e" set "$work/stores/vm1.fd" "Var-$guid" --data free
is 'sizes' "$(stat -c %s "$work"/stores/* | sort -u)" "$(stat -c %s "$work/blank")"
"$e" umount "$work/dir"
