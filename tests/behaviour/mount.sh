#!/bin/bash
# Mounts, unmounts and refusals from the command line, and what readers see of changes.
. "$(dirname "$0")/../lib.sh"
needs_fuse
needs perl
guid=20230501-1234-5678-9abc-def012345678
e=$EFIVARIUM
mkdir "$work/dir" "$work/other"
blank "$work/vars.fd"

refuses 1 'No such file' "$e" mount "$work/none" "$work/dir"
refuses 1 'No such file' "$e" mount "$work/vars.fd" "$work/none"
refuses 1 'Not a directory' "$e" mount "$work/vars.fd" "$work/vars.fd"
refuses 1 'unknown mount option' "$e" mount -o nosuch "$work/vars.fd" "$work/dir"
refuses 1 'take no value' "$e" mount -o nostatfs=1 "$work/vars.fd" "$work/dir"
refuses 1 'take a number' "$e" mount -o uid=x "$work/vars.fd" "$work/dir"
refuses 1 'query=70ms' "$e" mount --latency nosuch=1ms "$work/vars.fd" "$work/dir"
refuses 1 'not a mount of efivarium' "$e" umount "$work/dir"
refuses 1 'not a mount of efivarium' "$e" remount -o statfs "$work/dir"

"$e" mount -o nostatfs,statfs "$work/vars.fd" "$work/dir"
is 'the last one wins' "$("$e" mounts | sed -n "s|.* on $work/dir (\(.*\))|\1|p" | tr , '\n' | grep -c nostatfs)" 0
refuses 1 'in use by another process' "$e" mount "$work/vars.fd" "$work/other"
refuses 1 'in use by another process' "$e" set "$work/vars.fd" "X-$guid" --data x
is 'reading beside the writer' "$("$e" ls "$work/vars.fd")" ''
"$e" set "$work/dir" "Var-$guid" --data one
is 'read back' "$("$e" get --raw "$work/dir" "Var-$guid")" one

# A reader that has the file open, and one that reads through the page cache, see the new value; a
# deleted one is gone at once.
perl -e '
	my ($file) = @ARGV;
	sysopen(my $reader, $file, 0) or die "open: $!";
	sysread($reader, my $old, 100); $old =~ /one$/ or die "old";
	system(@ARGV[1 .. $#ARGV]) == 0 or die "set";
	sysseek($reader, 0, 0); sysread($reader, my $new, 100); $new =~ /second$/ or die "new: $new";
	(-s $file) == 10 or die "size";
' "$work/dir/Var-$guid" "$e" set "$work/dir" "Var-$guid" --data second
is 'after a change' "$(tail -c +5 "$work/dir/Var-$guid")" second
"$e" rm "$work/dir" "Var-$guid"
[ ! -e "$work/dir/Var-$guid" ] || fail 'still there'
for n in $(seq 100); do
	"$e" set "$work/dir" "Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c" --file \
		<(printf '\1\0\0\0\4\0N\0\0\0\x7f\xff\4\0%s' "$n")
	is "value $n" "$(tail -c +19 "$work/dir/Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c")" "$n"
done

exec 7<"$work/dir/Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c"
if [ "$(id -u)" = 0 ]; then refuses 1 'busy' "$e" umount "$work/dir"; fi
exec 7<&-
"$e" umount "$work/dir"
# Straight after: the store is free.
"$e" mount -f "$work/vars.fd" "$work/dir" &
server=$!
until mountpoint -q "$work/dir"; do kill -0 $server || fail 'the server in the foreground ended'; done
kill -TERM $server
wait $server || fail "ended with $?"
mountpoint -q "$work/dir" && fail 'still mounted after SIGTERM'

# The worker of the runtime services can be put elsewhere while it runs; what cannot be had is
# refused, and nothing of that remount is taken.
if [ "$(nproc)" -gt 1 ]; then
	"$e" mount -o cpus=0 "$work/vars.fd" "$work/dir"
	"$e" set "$work/dir" "Timeout-8be4df61-93ca-11d2-aa0d-00e098032b8c" --file <(printf '\1\0')
	pid=$("$e" mounts --json | sed -n "\|\"$work/dir\"|,/pid/s/.*\"pid\": \([0-9]*\).*/\1/p")
	worker=$(grep -lx efi_runtime /proc/"$pid"/task/*/comm)
	cpus() { sed -n 's/^Cpus_allowed_list:\t//p' "${worker%/comm}/status"; }
	is 'CPUs at start' "$(cpus)" 0
	"$e" remount -o cpus=1 "$work/dir"
	is 'CPUs after remount' "$(cpus)" 1
	refuses 1 'refused' "$e" remount -o cpus=900,nostatfs "$work/dir"
	"$e" mounts | has "on $work/dir (rw,.*cpus=1)" || fail 'a refused remount changed something'
	"$e" umount "$work/dir"
fi

# Slow firmware holds up who asks it, and nobody else.
"$e" mount -o profile=kernel --latency set=300ms "$work/vars.fd" "$work/dir"
perl -e '
	my ($dir) = @ARGV;
	sub seconds { open(my $file, "<", "/proc/uptime") or die; return (split " ", <$file>)[0]; }
	my $boot = "$dir/Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	my $pid = fork;
	if (!$pid) {
		sysopen(my $fd, "$dir/Timeout-8be4df61-93ca-11d2-aa0d-00e098032b8c", 1 | 64) or die;
		my $start = seconds(); syswrite($fd, "\7\0\0\0\1\0") == 6 or die "write: $!";
		exit(seconds() - $start >= 0.28 ? 0 : 1);
	}
	my ($reads, $done) = (0, 0);
	until ($done) {
		sysopen(my $fd, $boot, 0) or die; sysread($fd, my $data, 100) or die; $reads++;
		$done = waitpid($pid, 1) == $pid;
	}
	$? == 0 or die "the write took no time\n";
	$reads > 3 or die "readers waited for the write\n";
' "$work/dir"
"$e" umount "$work/dir"
"$e" check "$work/vars.fd"

# Whoever lists the mounts does not make one busy.
while :; do "$e" mounts >/dev/null || :; done &
lister=$!
for _ in 1 2 3 4 5; do
	"$e" mount "$work/vars.fd" "$work/dir"
	"$e" umount "$work/dir"
done
kill $lister
