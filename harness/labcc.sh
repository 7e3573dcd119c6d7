#!/bin/sh
# SPDX-License-Identifier: MIT
# labcc.sh: compiles a student's file and makes runners of it, the same way for the learner's file,
# the reference, a mutant and a submission.
#
#   labcc.sh CONF compile SOURCE OBJECT [DEPFILE]      as a student's: warnings, but no errors by them
#   labcc.sh CONF strict  SOURCE OBJECT [DEPFILE]      as ours: warnings are errors
#   labcc.sh CONF without TODO SOURCE OBJECT [DEPFILE] as ours with the answer to TODO taken out
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

# What an object defines. (nm takes its time: it loads what it can find of compilers' plugins.)
# symbols_of OBJECT
symbols_of() {
    "$LAB_NM" -P -g --defined-only "$1"
}

# Prints objcopy's options for an object: the functions of TODO keep (student) or lose (reference).
# TODO 0: the student's object keeps all. A function that is missing is an error.
# select_symbols ROLE TODO SYMBOLS
select_symbols() {
    awk -v role="$1" -v todo="$2" -v all="$LAB_FUNCTIONS" '
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
        }' "$3"
}

# Makes OUTPUT of OBJECT, whose definitions SYMBOLS lists.
# prepare ROLE TODO SYMBOLS OBJECT OUTPUT
prepare() {
    select_symbols "$1" "$2" "$3" >"$5.options" &&
        "$LAB_OBJCOPY" "@$5.options" "$4" "$5" &&
        rm -f "$5.options"
}

# REFERENCE is prepared already; none for TODO 0.
# link_runner OBJECT SYMBOLS TODO OUTPUT [REFERENCE]
link_runner() {
    mine=$part.$3.o
    prepare student "$3" "$2" "$1" "$mine" ||
        fail "$LAB_FILE: put the function back; the lab's header says what it must be like"
    $LAB_LINK -o "$4" "$mine" ${5-} $LAB_GIVEN $LAB_LIBS
    rm -f "$mine"
}

# Names what is made on the way. Several may be made at once.
make_parts() {
    part=$LAB_FOLDER/parts/$$
    mkdir -p "$LAB_FOLDER/parts"
}

# runner OBJECT TODO OUTPUT
runner() {
    make_parts
    symbols_of "$1" >"$part.symbols"
    if [ "$2" = 0 ]; then
        link_runner "$1" "$part.symbols" 0 "$3"
    else
        symbols_of "$LAB_REFERENCE" >"$part.reference"
        prepare reference "$2" "$part.reference" "$LAB_REFERENCE" "$part.reference.o"
        link_runner "$1" "$part.symbols" "$2" "$3" "$part.reference.o"
    fi
    rm -f "$part.symbols" "$part.reference" "$part.reference.o"
}

# runners OBJECT PREFIX TODO...
runners() {
    object=$1 prefix=$2
    shift 2
    make_parts
    symbols_of "$object" >"$part.symbols"
    for number; do
        reference=
        [ "$number" = 0 ] || reference=$LAB_WITHOUT$number.o
        link_runner "$object" "$part.symbols" "$number" "$prefix-$number" $reference
    done
    rm -f "$part.symbols"
}

# without TODO SOURCE OBJECT DEPFILE
without() {
    compile "$2" "$3" "$4" "-Wno-unused"
    symbols_of "$3" >"$3.symbols"
    prepare reference "$1" "$3.symbols" "$3" "$3"
    rm -f "$3.symbols"
}

case $action in
compile) compile "$1" "$2" "${3-}" "" ;;
without) without "$1" "$2" "$3" "${4-}" ;;
strict) compile "$1" "$2" "${3-}" "$LAB_STRICT" ;;
runner) runner "$1" "$2" "$3" ;;
program) $LAB_LINK -o "$3" "$1" "$2" $LAB_PROGRAM_GIVEN $LAB_LIBS ;;
mutant)
    compile "$1" "$2.o" "" ""
    runner "$2.o" 0 "$2"
    ;;
runners) runners "$@" ;;
*) fail "labcc.sh: '$action' is none of compile, strict, without, runner, runners, mutant, program" ;;
esac
