#!/bin/sh
# SPDX-License-Identifier: MIT
# older_jumps.sh NM LIBRARY PATTERN VERSION [OBJECT]: writes assembly with a jump to each function of
# LIBRARY whose name PATTERN describes and whose symbol version is VERSION, except those that OBJECT
# (cudart12.c) defines.
set -e
nm=$1 library=$2 pattern=$3 version=$4 object=$5
own=$(mktemp)
trap 'rm -f "$own"' EXIT
[ -z "$object" ] || "$nm" --defined-only --extern-only "$object" | sed -n 's/^.* T //p' | sort >"$own"
printf '.text\n'
"$nm" --defined-only --dynamic "$library" | sed -n "s/^.* T \\($pattern\\)@@$version\$/\\1/p" | sort |
    comm -23 - "$own" | while read -r name; do
    printf '.symver newer_%s, %s@%s\n' "$name" "$name" "$version"
    printf '.globl %s\n.type %s, %%function\n%s:\n' "$name" "$name" "$name"
    case $(uname -m) in
    x86_64) printf 'endbr64\njmp *newer_%s@GOTPCREL(%%rip)\n' "$name" ;;
    *) printf 'adrp x16, :got:newer_%s\nldr x16, [x16, :got_lo12:newer_%s]\nbr x16\n' "$name" "$name" ;;
    esac
done
printf '.section .note.GNU-stack,"",%%progbits\n'
