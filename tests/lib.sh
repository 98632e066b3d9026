# What the script tests share: ". tests/lib.sh". $EFIVARIUM is the program under test.
# A test that cannot run here ends with 77 and says why; CTest counts it as skipped.
set -euo pipefail
export LC_ALL=C
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
EFIVARIUM=${EFIVARIUM:?the program under test}
ovmf=/usr/share/OVMF

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
needs_fuse() { [ -c /dev/fuse ] && [ -w /dev/fuse ] || skip "no /dev/fuse to open here"; }
needs() { for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done; }
needs_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }

# What a killed run left mounted.
for old in "${TMPDIR:-/tmp}"/efivarium-test.*; do
	pid=${old##*efivarium-test.}
	if [ -d "$old" ] && ! kill -0 "${pid%%.*}" 2>/dev/null; then
		umount -l "$old"/* 2>/dev/null || :
		rm -rf "$old"
	fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/efivarium-test.$$.XXXXXX")
chmod 755 "$work"
export ASAN_OPTIONS=log_path=$work/sanitizer:${ASAN_OPTIONS:-} \
	UBSAN_OPTIONS=log_path=$work/sanitizer:print_stacktrace=1 \
	TSAN_OPTIONS=log_path=$work/sanitizer:${TSAN_OPTIONS:-}
finish() {
	code=$?
	trap - EXIT
	jobs -p | xargs -r kill 2>/dev/null || :  # what the test started and did not end
	for dir in "$work"/*; do
		if grep -q " $dir " /proc/self/mounts; then  # a dead one is no mount point to mountpoint(1)
			"$EFIVARIUM" umount "$dir" 2>/dev/null || umount -l "$dir" || :
		fi
	done
	for log in "$work"/sanitizer.*; do
		[ -e "$log" ] || continue
		cat "$log"
		code=1
	done
	rm -rf "$work"
	exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM

# blank FILE: a new 4M store.
blank() { "$EFIVARIUM" create "$1"; }
# has [GREP OPTION...] PATTERN: what is piped in has such a line. Reads all of it: grep -q would end
# at the first, and who still writes with it.
has() { grep "$@" >"$work/has"; }
# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"; }
# refuses CODE TEXT COMMAND...: the command ends with the code, and its one line on stderr has the text.
refuses() {
	local code=$1 text=$2 got=0
	shift 2
	"$@" >/dev/null 2>"$work/stderr" || got=$?
	is "exit code of $*" "$got" "$code"
	is "lines on stderr of $*" "$(wc -l <"$work/stderr")" 1
	grep -qF -- "$text" "$work/stderr" || fail "$*: '$(cat "$work/stderr")' does not say '$text'"
}
