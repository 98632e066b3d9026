#!/bin/sh
# File names: which ones make a variable, and which are the same.
. ./lib.sh
zeros=$(printf '%0218d' 0)	# as long as a name can be beside a GUID
upper=20230501-1234-5678-9ABC-DEF012345678

# attempt NAME: creates and deletes it.
attempt() {
	call open "$dir/$1" 'WRONLY|CREAT' , write 0700000041 , close
	unlock "$dir/$1"
	call unlink "$dir/$1"
}

# cases_of_case: those that the folder lists.
# shellcheck disable=SC2010 # no such name holds a newline
cases_of_case() { ls "$dir" | grep -i '^case'; }

heading 'accepted or not'
for name in foo foo- "$own" "-$own" "a$own" "--$own" "A-$own" "with space-$own" "a/b-$own"; do
	attempt "$name"
done
for name in . .. .hidden 1234 Trailing-; do
	attempt "$name-$own"
done
for name in \
	A-20230501-1234-5678-9abc-def01234567 \
	A-20230501-1234-5678-9abc-def0123456789 \
	A-20230501-1234-5678-9abc-def01234567g \
	A-20230501=1234-5678-9abc-def012345678 \
	A-20230501-1234-5678-9abcdef-012345678 \
	A-20230501-1234-5678-9abcddef012345678 \
	A-202305011234-5678-9abc-def012345678 \
	A_20230501-1234-5678-9abc-def012345678 \
	A-00000000-0000-0000-0000-000000000000
do
	attempt "$name"
done
# UTF-8, a byte that is not, a newline, and 255 and 256 bytes.
for name in "$(printf '\303\251')" "$(printf '\377')" "$(printf 'a\nb')" "$zeros" "${zeros}0"; do
	attempt "$name-$own"
done

heading 'the guid is caseless, the name is not'
call open "$dir/Case-$upper" 'WRONLY|CREAT' , write 0700000041 , close
cases_of_case
call stat "$dir/Case-$own" , stat "$dir/Case-$upper" , stat "$dir/case-$own"
create "$dir/case-$own" 0700000042
cases_of_case
call open "$dir/Case-$own" 'WRONLY|CREAT|EXCL'

heading 'looking up a bad name'
call stat "$dir/foo" , open "$dir/foo" RDONLY , \
	stat "$dir/A-20230501-1234-5678-9abc-def01234567g" , unlink "$dir/foo"
