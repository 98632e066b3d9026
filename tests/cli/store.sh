#!/bin/bash
# The verbs that need no mount.
. "$(dirname "$0")/../lib.sh"
needs cmp
guid=20230501-1234-5678-9abc-def012345678
store=$work/store.fd
e=$EFIVARIUM

blank "$store"
refuses 1 'File exists' "$e" create "$store"
refuses 1 'unknown; there are ovmf-2m' "$e" create --layout nosuch "$work/other"
is 'blank list' "$("$e" ls "$store")" ''
is 'blank json' "$("$e" ls --json "$store")" '[]'
for pair in ovmf-2m:OVMF_VARS.fd ovmf-4m:OVMF_VARS_4M.fd; do
	"$e" create --layout "${pair%%:*}" "$work/blank"
	[ ! -f "$ovmf/${pair##*:}" ] || cmp "$work/blank" "$ovmf/${pair##*:}" || fail "not the template"
	rm "$work/blank"
done

"$e" set "$store" "Text-$guid" --data 'hello'
"$e" set "$store" "Text-$guid" --append --data ', you'
is 'raw data' "$("$e" get --raw "$store" "Text-$guid")" 'hello, you'
printf '\0\1\2' >"$work/bytes"
"$e" set "$store" "Bytes-$guid" --attributes nv,bs --file "$work/bytes"
"$e" get --raw "$store" "Bytes-$guid" | cmp - "$work/bytes"
is 'list' "$("$e" ls "$store")" "nv,bs            3  Bytes-$guid
nv,bs,rt        10  Text-$guid"
is 'json' "$("$e" get --json "$store" "Bytes-$guid" | tr -d ' \n')" \
	'{"name":"Bytes","vendor":"'$guid'","attributes":3,"size":3,"sha256":"ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc","time":null,"data":"000102"}'
# A surrogate without its other half, as three bytes, stands as its escape.
"$e" set "$store" "$(printf 'S\355\240\275-')$guid" --data x
"$e" ls --json "$store" | has -F '"name": "S\ud83d"' || fail 'lone surrogate'
"$e" rm "$store" "$(printf 'S\355\240\275-')$guid"

refuses 1 'no such variable' "$e" get "$store" "None-$guid"
refuses 1 'no such variable' "$e" rm "$store" "None-$guid"
refuses 1 'NAME-GUID' "$e" get "$store" None
refuses 1 'other attributes' "$e" set "$store" "Bytes-$guid" --data x
refuses 1 'larger than one variable may be' "$e" set "$store" "Huge-$guid" --file <(head -c 40000 /dev/zero)
refuses 1 'non-volatile' "$e" set "$store" "Ram-$guid" --attributes bs,rt --data x
refuses 1 'no data' "$e" set "$store" "Empty-$guid" --data ''
refuses 1 'words of nv' "$e" set "$store" "Text-$guid" --attributes foo --data x
refuses 1 'No such file' "$e" ls "$work/none"
refuses 1 'variable store' "$e" ls "$0"
refuses 2 'NAME' "$e" get "$store"
refuses 2 'subcommand' "$e"

"$e" rm "$store" "Text-$guid"
"$e" df --json "$store" | tr -d ' \n' | has '"total":262044,"used":[0-9]*,"unreclaimed":[1-9]' || fail df
"$e" compact "$store" | has 'bytes given back'
"$e" df "$store" | tail -1 | has ' 262044 .* 0 ' || fail 'nothing reclaimed'
"$e" check "$store" | has ': sound, ovmf-4m'
is 'size of the file' "$(stat -c %s "$store")" 540672

# Damage: told with its offset, read as far as it is sure, mended on request, with a copy kept.
cp "$store" "$work/damaged.fd"
printf '\x12' | dd of="$work/damaged.fd" bs=1 seek=$((0x66)) conv=notrunc status=none
refuses 1 'offset 0x64' "$e" set "$work/damaged.fd" "Text-$guid" --data x
refuses 1 'offset 0x64' "$e" ls "$work/damaged.fd"
is 'finding' "$("$e" check --json "$work/damaged.fd" | tr -d ' \n' | grep -o '"sound":false,"findings":\[{"kind":"damaged_record","offset":100')" \
	'"sound":false,"findings":[{"kind":"damaged_record","offset":100'
"$e" repair "$work/damaged.fd" | has 'before-repair'
[ -f "$work/damaged.fd.before-repair" ]
"$e" check "$work/damaged.fd"
"$e" repair "$work/damaged.fd" | has 'nothing to mend'
