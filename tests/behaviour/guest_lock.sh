#!/bin/bash
# A running guest's store is refused for writing, and a mounted one is refused to a guest.
. "$(dirname "$0")/../lib.sh"
needs qemu-system-x86_64
needs_fuse
code=$ovmf/OVMF_CODE_4M.fd
[ -f "$code" ] || skip "$code is not installed"
blank "$work/vars.fd"
mkdir "$work/dir"
qemu() {
	exec qemu-system-x86_64 -S -nodefaults -display none -machine q35 -accel tcg -m 64 -monitor none \
		-drive if=pflash,unit=0,format=raw,readonly=on,file="$code" \
		-drive if=pflash,unit=1,format=raw,file="$work/vars.fd"
}
qemu </dev/null >/dev/null 2>&1 &
guest=$!
# It opens the image several times before it keeps it.
until cat /proc/$guest/fdinfo/* 2>/dev/null | has 'OFDLCK.*READ.* 100 101$'; do
	kill -0 $guest || fail 'the guest did not start'
done
refuses 1 'running virtual machine' "$EFIVARIUM" set "$work/vars.fd" X-20230501-1234-5678-9abc-def012345678 --data x
refuses 1 'running virtual machine' "$EFIVARIUM" mount "$work/vars.fd" "$work/dir"
"$EFIVARIUM" ls "$work/vars.fd"
kill $guest
wait $guest || :

"$EFIVARIUM" mount "$work/vars.fd" "$work/dir"
(qemu) </dev/null >/dev/null 2>"$work/refusal" && fail 'the guest took a mounted store'
grep -q 'Failed to get "write" lock' "$work/refusal" || fail "$(cat "$work/refusal")"
"$EFIVARIUM" umount "$work/dir"
