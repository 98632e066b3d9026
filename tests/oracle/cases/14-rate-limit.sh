#!/bin/sh
# Users but root may make some 100 read calls a second, and a call that finds
# the end of the file counts. The classes of time are wide, for slow machines.
. ./lib.sh
export FILE="$dir/Timeout-$global"

# shellcheck disable=SC2016 # perl's variables
program='
	use strict;
	use warnings;

	# CLOCK_MONOTONIC, which perl-base has no module for.
	sub now {
		my $time = "\0" x 16;
		syscall 228, 1, $time;
		my ($seconds, $nanoseconds) = unpack "q2", $time;
		return $seconds + $nanoseconds / 1e9;
	}

	my $begin = now();
	for (1 .. $ARGV[0] / 2) {
		open my $file, "<", $ENV{FILE} or die "open: $!";
		sysread $file, my $data, 64;
		sysread $file, $data, 64;
	}
	my $time = now() - $begin;
	print $time < 1.5 ? "below 1.5 s\n" : $time < 3 ? "1.5 to 3 s\n" :
		$time < 7 ? "3 to 7 s\n" : "above 7 s\n";
'

heading 'root, 450 reads'
perl -e "$program" 450

heading 'a user, 90 reads'
as_user 1000 perl -e "$program" 90

sleep 2
heading 'the same user, 450 reads'
as_user 1000 perl -e "$program" 450

heading 'another user, 90 reads, straight after'
as_user 1001 perl -e "$program" 90

heading 'root, 450 reads, straight after'
perl -e "$program" 450
