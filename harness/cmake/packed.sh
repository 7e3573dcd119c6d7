#!/bin/sh
# SPDX-License-Identifier: MIT
# packed.sh: what a packed course (./lab pack) compiles with: packed.sh ROOT COMPILER WORD...
# Where ROOT/objects/PROCESSOR has the object that this command would make, of a source that is as
# it was packed, the object is copied. Everything else is compiled.
root=$1
shift
object='' source='' depfile='' before=''
for word; do
    case $before in
    -o) object=$word ;;
    -c) source=$word ;;
    -MF) depfile=$word ;;
    esac
    before=$word
done
kept=$root/objects/$(uname -m)/${object##*CMakeFiles/}
if [ -f "$kept" ] && [ "$(cksum <"$source")" = "$(cat "$kept.sum")" ]; then
    [ -z "$depfile" ] || printf '%s: %s\n' "$object" "$source" >"$depfile"
    exec cp "$kept" "$object"
fi
exec "$@"
