#!/bin/sh
# SPDX-License-Identifier: MIT
# labcc.sh: compiles a student's file and makes runners of it, the same way for the learner's file,
# the reference, a mutant and a submission.
#
#   labcc.sh CONF compile SOURCE OBJECT [DEPFILE]      as a student's: warnings, but no errors by them
#   labcc.sh CONF strict  SOURCE OBJECT [DEPFILE]      as ours: warnings are errors
#   labcc.sh CONF without SOURCE OBJECT [DEPFILE]      as ours with an answer taken out: things unused
#   labcc.sh CONF runner  OBJECT TODO OUTPUT           TODO 0: all functions are the object's
#   labcc.sh CONF mutant  SOURCE OUTPUT                compile, then runner 0
#   labcc.sh CONF runners OBJECT PREFIX TODO...        PREFIX-TODO for each, of a submission
#   labcc.sh CONF program OBJECT MAIN_OBJECT OUTPUT    the lab's own program
#
# CONF is written by peerlab_lab() (lab.cmake): labs/NN-name/lab.conf in the build folder. Its lists
# have one word a line, so paths may hold blanks.
#
# A runner for TODO(k) takes the functions of TODO(k) from the student's object and all others from
# the reference. Both objects define all of them, so each definition that is not wanted is made
# weak, and the linker takes the other one. It works for calls inside a file too, because everything
# is compiled with -fPIC -fsemantic-interposition: calls go through symbols. Whatever else a file
# defines becomes local to it, so that helpers of the same name do not meet.
#
# A submission is graded with a reference that has no answer to TODO(k) (LAB_WITHOUT-k.o): machine
# code that is in a program can be called, whatever its name.
set -euf
IFS='
'

fail() {
    echo "$*" >&2
    exit 1
}

[ $# -ge 2 ] || fail "usage: labcc.sh CONF compile|strict|without|runner|runners|mutant|program ..."
. "$1"
action=$2
shift 2

# compile SOURCE OBJECT DEPFILE FLAGS
compile() {
    source=$1 object=$2 depfile=$3 flags=$4
    case $source in
    *.cu) set -- $LAB_CUC ;;
    *) set -- $LAB_CC ;;
    esac
    [ -z "$depfile" ] || set -- "$@" -MD -MF "$depfile"
    case $source in
    *.cu) [ -z "$flags" ] || set -- "$@" -Xcompiler "$flags" ;;
    *) set -- "$@" $flags ;;
    esac
    "$@" -c -o "$object" "$source"
}

# Prints objcopy's options for OBJECT: the functions of TODO keep (student) or lose (reference).
# TODO 0: the student's object keeps all. A function that is missing is an error.
# select_symbols ROLE OBJECT TODO
select_symbols() {
    "$LAB_NM" -P -g --defined-only "$2" | awk -v role="$1" -v todo="$3" -v all="$LAB_FUNCTIONS" '
        function is(symbol, f,   mangled) { # a C name, or C++ mangling of a free function
            mangled = "_Z" length(f) f
            return symbol == f || substr(symbol, 1, length(mangled)) == mangled
        }
        BEGIN {
            n = split(all, entry, " ")
            for (i = 1; i <= n; i++) {
                split(entry[i], part, ":")
                number[i] = part[1]
                name[i] = part[2]
            }
        }
        $2 ~ /^[TDBRCGSVWuvw]$/ {
            found = 0
            for (i = 1; i <= n; i++)
                if (is($1, name[i])) {
                    found = seen[i] = 1
                    if ((number[i] == todo) != (role == "student"))
                        print "--weaken-symbol=" $1
                }
            if (!found && $2 ~ /^[TDBRCGS]$/)
                print "--localize-symbol=" $1
        }
        END {
            for (i = 1; i <= n; i++)
                if ((number[i] == todo || todo == 0) && !seen[i])
                    missing = missing " " name[i] "() of TODO(" number[i] ")"
            if (missing != "") {
                print "error: not defined:" missing > "/dev/stderr"
                exit 1
            }
        }'
}

# runner OBJECT TODO OUTPUT
runner() {
    object=$1 todo=$2 output=$3 reference=
    part=$LAB_FOLDER/parts/$(basename "$output").$$ # several may be made at once
    mkdir -p "$LAB_FOLDER/parts"
    select_symbols student "$object" "$todo" >"$part.student" ||
        fail "$LAB_FILE: put the function back; the lab's header says what it must be like"
    "$LAB_OBJCOPY" "@$part.student" "$object" "$part.student.o"
    if [ "$todo" != 0 ]; then
        reference=$part.reference.o
        select_symbols reference "$LAB_REFERENCE" "$todo" >"$part.reference"
        "$LAB_OBJCOPY" "@$part.reference" "$LAB_REFERENCE" "$reference"
    fi
    $LAB_LINK -o "$output" "$part.student.o" $reference $LAB_GIVEN $LAB_LIBS
    rm -f "$part.student" "$part.student.o" "$part.reference" "$part.reference.o"
}

case $action in
compile) compile "$1" "$2" "${3-}" "" ;;
without) compile "$1" "$2" "${3-}" "-Wno-unused" ;;
strict) compile "$1" "$2" "${3-}" "$LAB_STRICT" ;;
runner) runner "$1" "$2" "$3" ;;
program) $LAB_LINK -o "$3" "$1" "$2" $LAB_PROGRAM_GIVEN $LAB_LIBS ;;
mutant)
    compile "$1" "$2.o" "" ""
    runner "$2.o" 0 "$2"
    ;;
runners)
    object=$1 prefix=$2
    shift 2
    for number; do
        LAB_REFERENCE=$LAB_WITHOUT$number.o
        runner "$object" "$number" "$prefix-$number"
    done
    ;;
*) fail "labcc.sh: '$action' is none of compile, strict, without, runner, runners, mutant, program" ;;
esac
