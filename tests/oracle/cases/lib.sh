# shellcheck shell=sh disable=SC2034
# For the cases, which begin with ". ./lib.sh". Each runs as root in this
# folder, on the efivarfs, or what stands in for it, that $EFIVARS names.
set -u
export LC_ALL=C EFIVARS="${EFIVARS:-/sys/firmware/efi/efivars}"
dir=$EFIVARS
own=20230501-1234-5678-9abc-def012345678	# a vendor that no firmware knows
global=8be4df61-93ca-11d2-aa0d-00e098032b8c	# that of the UEFI specification

heading() { printf '\n# %s\n' "$*"; }

# call CALL...: system calls in one process, a line for each; see ../probe.
call() { ../probe "$@"; }

# user_call CALL...: the same as a user without privileges.
user_call() { as_user 1000 ../probe "$@"; }

# as_user ID COMMAND...
as_user() {
	id=$1
	shift
	setpriv --reuid "$id" --regid "$id" --clear-groups "$@"
}

# create FILE BYTES: writes a variable and lifts the immutable flag it gets.
create() {
	call open "$1" 'WRONLY|CREAT' , write "$2" , close
	unlock "$1"
}

# unlock FILE: lifts the immutable flag, without a word.
unlock() { call open "$1" RDONLY , setflags 0 >/dev/null; }

# read_back FILE: the bytes that the file has now.
read_back() { call open "$1" RDONLY , readall; }

# space: statfs, after a pause. A user who asks more than five times in two
# seconds may be given an old answer.
space() {
	sleep 2.1
	call statfs "$dir"
}
