#!/bin/bash
# kill -9 of the server under a load of writes: every write that was acknowledged is in the image.
. "$(dirname "$0")/../lib.sh"
needs_fuse
needs perl
guid=20230501-1234-5678-9abc-def012345678
mkdir "$work/dir"
for round in 1 2 3; do
	rm -f "$work/vars.fd"
	: >"$work/acknowledged"
	blank "$work/vars.fd"
	"$EFIVARIUM" mount "$work/vars.fd" "$work/dir"
	pid=$("$EFIVARIUM" mounts --json | sed -n "\|\"$work/dir\"|,/pid/s/.*\"pid\": \([0-9]*\).*/\1/p")
	# Counts up in ten variables and notes what close(2) has followed.
	perl -e '
		my ($dir, $guid, $log) = @ARGV;
		open my $out, ">", $log or die;
		$out->autoflush(1);
		for (my $n = 0; ; $n++) {
			my $file = sprintf "%s/Boot%04X-8be4df61-93ca-11d2-aa0d-00e098032b8c", $dir, $n % 10;
			my $option = pack("VVv", 7, 1, 4) . pack("v*", unpack("C*", "N$n"), 0) . "\x7f\xff\4\0";
			sysopen(my $fd, $file, 1 | 64) or last;
			(syswrite($fd, $option) // 0) == length $option or last;
			print $out $n % 10, " ", "N$n", "\n";
		}' "$work/dir" "$guid" "$work/acknowledged" &
	writer=$!
	until [ "$(wc -l <"$work/acknowledged")" -gt $((50 * round)) ]; do
		kill -0 $writer 2>/dev/null || break
	done
	kill -9 "$pid"
	wait $writer || :
	umount -l "$work/dir"
	[ "$(wc -l <"$work/acknowledged")" -gt 50 ] || fail 'the load was not under way'
	for slot in 0 1 2 3 4 5 6 7 8 9; do
		last=$(sed -n "s/^$slot N//p" "$work/acknowledged" | tail -1)
		got=$("$EFIVARIUM" get --raw "$work/vars.fd" "Boot000$slot-8be4df61-93ca-11d2-aa0d-00e098032b8c" |
			tail -c +7 | tr -d '\0' | sed 's/^N\([0-9]*\).*/\1/' | head -1)
		# The one write that was under way may have come through as well.
		[ "$got" = "$last" ] || [ "$got" = $((last + 10)) ] || fail "Boot000$slot: $got, acknowledged $last"
	done
done
