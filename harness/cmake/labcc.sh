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
#   labcc.sh CONF debug   SOURCE TODO OUTPUT           runner, of what was compiled for a debugger
#   labcc.sh CONF runners OBJECT PREFIX TODO...        PREFIX-TODO for each, of a submission
#   labcc.sh CONF program OBJECT MAIN_OBJECT OUTPUT    the lab's own program
#   labcc.sh CONF doors   OUTPUT                       given functions, and the lab's they call
#   labcc.sh CONF traps   OUTPUT                       the traps, as an object
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
# While TODO(k) is tested the student's object may call of the lab's other functions only those of
# LAB_NEEDS: all others' names, and those of given functions that call such (LAB_DOORS), become
# lab__trap_NAME in it, a function that ends the program and says so. Otherwise two unwritten tasks
# could solve each other: each is tested with the reference's answer to the other.
#
# What a student's file calls of LAB_WATCHED (malloc and its like, and what a lab's adapters want to see)
# becomes lab_watched_NAME, which is harness/runner/host_memory.c's or the adapters'.
#
# What does the tasks' own work (LAB_CLOSED, objects of given files) is for tests of the whole lab
# only: while TODO(k) is tested it is not linked, and all its names are traps.
#
# PREFIX-k-own is the same with the student's own functions wherever these are written (none reaches
# lab_todo), for the tasks that may call others'. What TODO(k) passes with the reference's, it must
# pass with those, too.
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

[ $# -ge 2 ] ||
    fail "usage: labcc.sh CONF compile|strict|without|runner|debug|runners|mutant|program|doors|traps ..."
. "$1"
conf=$1
case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac
action=$2 complete='' whole=''
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

# debug SOURCE OBJECT: nothing is optimized, and debuggers are told of every variable.
debug() {
    case $1 in
    *.cu) $LAB_CUC -O0 -G -c -o "$2" "$1" ;;
    *) $LAB_CC -O0 -c -o "$2" "$1" ;;
    esac
}

# What an object defines and wants.
# symbols_of OBJECT
symbols_of() {
    $LAB_NM -P -g "$1"
}

# Each exported function of some objects with those of TARGETS that it reaches, not through STOPS.
# reaches TARGETS STOPS OBJECT...
reaches() {
    targets=$1 stops=$2
    shift 2
    "$LAB_OBJDUMP" -t -r "$@" | awk -v targets="$targets" -v stops="$stops" -f "$here/reach.awk"
}

# The names of the lab's functions, between blanks.
lab_names() {
    (
        IFS=' '
        for entry in $LAB_FUNCTIONS; do
            printf '%s ' "${entry#*:}"
        done
    )
}

# Prints objcopy's options for an object: the functions of TODO keep (student) or lose (reference).
# TODO 0: the student's object keeps all. A function that is missing is an error. Roles own and
# stand-in are these two where the student's functions count but for those in UNWRITTEN.
# select_symbols ROLE TODO SYMBOLS [UNWRITTEN]
select_symbols() {
    awk -v role="$1" -v todo="$2" -v all="$LAB_FUNCTIONS" -v needs="$LAB_NEEDS" \
        -v doors="$LAB_DOORS" -v unwritten="${4-}" -v watched=" $LAB_WATCHED " '
        function is(symbol, f,   mangled) { # a C name, or C++ mangling of a free function
            mangled = "_Z" length(f) f
            return symbol == f || substr(symbol, 1, length(mangled)) == mangled
        }
        # Whether TODO may call it: its own, or needed.
        function may_call(f) {
            return todo == 0 || task[f] == todo || ((todo ":" f) in need)
        }
        function is_open(door,   i, n, reached) {
            if ((todo ":" door) in need)
                return 1
            n = split(reach[door], reached, " ")
            for (i = 1; i <= n; i++)
                if (!may_call(reached[i]))
                    return 0
            return 1
        }
        function is_wanted(i) { # in this object, of the function number i
            if (role == "student" || role == "reference")
                return (number[i] == todo) == (role == "student")
            return (number[i] == todo || !(name[i] in stub)) == (role == "own")
        }
        BEGIN {
            n = split(all, entry, " ")
            for (i = 1; i <= n; i++) {
                split(entry[i], part, ":")
                number[i] = part[1]
                name[i] = part[2]
                task[part[2]] = part[1]
            }
            for (i = split(needs, entry, " "); i > 0; i--)
                need[entry[i]] = 1
            for (i = split(unwritten, entry, " "); i > 0; i--)
                stub[entry[i]] = 1
            while (doors != "" && (getline line < doors) > 0) {
                door = line
                sub(/ .*/, "", door)
                reach[door] = substr(line, length(door) + 2)
            }
        }
        role == "student" && $1 in task && !may_call($1) ||
        role == "student" && $2 == "U" && $1 in reach && !is_open($1) {
            print "--redefine-sym=" $1 "=lab__trap_" $1
            if ($2 != "U") {
                print "--weaken-symbol=" $1
                print "--weaken-symbol=lab__trap_" $1
            }
            for (i = 1; i <= n; i++)
                seen[i] = seen[i] || name[i] == $1
            next
        }
        (role == "student" || role == "own") && $2 == "U" && index(watched, " " $1 " ") {
            print "--redefine-sym=" $1 "=lab_watched_" $1
        }
        $2 ~ /^[TDBRCGSVWuvw]$/ {
            found = 0
            for (i = 1; i <= n; i++)
                if (is($1, name[i])) {
                    found = seen[i] = 1
                    if (todo > 0 && !is_wanted(i))
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
# prepare ROLE TODO SYMBOLS OBJECT OUTPUT [UNWRITTEN]
prepare() {
    select_symbols "$1" "$2" "$3" "${6-}" >"$5.options" && "$LAB_OBJCOPY" "@$5.options" "$4" "$5"
}

# Whether TODO(k) may call functions of other tasks: it then has a runner with the student's own.
# has_needs TODO
has_needs() {
    case " $LAB_NEEDS" in
    *" $1:"*) true ;;
    *) false ;;
    esac
}

# What all runners of TODO have in common, a word a line.
# given TODO
given() {
    if [ "$1" = 0 ] || [ -z "$LAB_CLOSED" ]; then
        echo "$LAB_GIVEN"
        return
    fi
    given_open
    for function in $(functions_of $LAB_CLOSED); do
        printf '%s\n' -Xlinker "--defsym=$function=lab__trap_$function"
    done
}

# REFERENCE is prepared already; none for TODO 0.
# link_runner OBJECT SYMBOLS TODO OUTPUT [REFERENCE]
link_runner() {
    mine=$part.$3.o
    prepare student "$3" "$2" "$1" "$mine" ||
        fail "$LAB_FILE: put the function back; the lab's header says what it must be like"
    $LAB_LINK -o "$4" "$mine" ${5-} $(given "$3") $LAB_TRAPS $LAB_LIBS
}

# OUTPUT-own. REFERENCE may have lost its answer to TODO; UNWRITTEN are the student's stubs. If the
# student's object is complete, this is the same program for all TODOs: $whole, once there is one.
# link_own OBJECT SYMBOLS TODO OUTPUT REFERENCE ITS_SYMBOLS UNWRITTEN
link_own() {
    if [ -n "$whole" ]; then
        ln -f "$whole" "$4-own"
        return
    fi
    mine=$part.$3.own.o theirs=$part.$3.reference.o
    prepare own "$3" "$2" "$1" "$mine" "$7"
    prepare stand-in "$3" "$6" "$5" "$theirs" "$7"
    $LAB_LINK -o "$4-own" "$mine" "$theirs" $(given "$3") $LAB_TRAPS $LAB_LIBS
    [ -z "$complete" ] || whole=$4-own
}

# Names what is made on the way. Several may be made at once.
make_parts() {
    part=$LAB_FOLDER/parts/$$
    [ -d "$LAB_FOLDER/parts" ] || mkdir -p "$LAB_FOLDER/parts"
}

# All at once: a program takes longer to start than a file to be removed.
remove_parts() {
    set +f
    rm -f "$part".*
    set -f
}

# The functions of an object that end in a TODO, between blanks.
unwritten_of() {
    reaches lab_todo "$(lab_names)" "$1" | while IFS=' ' read -r name _; do
        printf '%s ' "$name"
    done
}

# The reference without its answer to TODO, for all runners of TODO: it changes with LAB_REFERENCE only.
# stand_in TODO
stand_in() {
    ready=$LAB_FOLDER/reference-$1.o
    if ! [ "$ready" -nt "$LAB_REFERENCE" ] || ! [ "$ready" -nt "$conf" ]; then
        symbols_of "$LAB_REFERENCE" >"$part.answers"
        prepare reference "$1" "$part.answers" "$LAB_REFERENCE" "$part.answers.o"
        mv "$part.answers.o" "$ready"
    fi
}

# runner OBJECT TODO OUTPUT
runner() {
    make_parts
    symbols_of "$1" >"$part.symbols"
    if [ "$2" = 0 ]; then
        link_runner "$1" "$part.symbols" 0 "$3"
    else
        own=
        if has_needs "$2"; then # both at once, since a learner waits; of two failures the first is told
            symbols_of "$LAB_REFERENCE" >"$part.reference"
            link_own "$1" "$part.symbols" "$2" "$3" "$LAB_REFERENCE" "$part.reference" \
                "$(unwritten_of "$1")" 2>"$part.said" &
            own=$!
        fi
        stand_in "$2"
        link_runner "$1" "$part.symbols" "$2" "$3" "$ready"
        if [ -n "$own" ]; then
            wait "$own" || fail "$(cat "$part.said")"
            cat "$part.said" >&2
        fi
    fi
    remove_parts
}

# runners OBJECT PREFIX TODO...
runners() {
    object=$1 prefix=$2
    shift 2
    make_parts
    symbols_of "$object" >"$part.symbols"
    unwritten=$(unwritten_of "$object")
    for number; do
        reference=
        [ "$number" = 0 ] || reference=$LAB_WITHOUT$number.o
        link_runner "$object" "$part.symbols" "$number" "$prefix-$number" $reference
        if [ "$number" = 0 ] && [ -z "$unwritten" ]; then # it defines all functions
            complete=yes
            [ -n "$LAB_CLOSED" ] || whole=$prefix-0
        fi
        if has_needs "$number"; then
            [ -n "$whole" ] || symbols_of "$reference" >"$part.reference"
            link_own "$object" "$part.symbols" "$number" "$prefix-$number" "$reference" "$part.reference" "$unwritten"
        fi
    done
    remove_parts
}

# without TODO SOURCE OBJECT DEPFILE
without() {
    compile "$2" "$3" "$4" "-Wno-unused"
    symbols_of "$3" >"$3.symbols"
    prepare reference "$1" "$3.symbols" "$3" "$3"
    rm -f "$3.symbols" "$3.options"
}

# The functions that some objects export.
# functions_of OBJECT...
functions_of() {
    [ $# -eq 0 ] || $LAB_NM -P -g --defined-only "$@" | sed -n 's/ T .*//p'
}

# Given functions that call functions of the lab, with these, so that nobody goes in by them; those
# of LAB_CLOSED with all of them.
# doors OUTPUT
doors() {
    {
        reaches "$(lab_names)" "" $(given_open)
        functions_of $LAB_CLOSED | sed "s/\$/ $(lab_names)/"
    } >"$1.new"
    mv "$1.new" "$1"
}

# Given objects but those of LAB_CLOSED.
given_open() {
    if [ -z "$LAB_CLOSED" ]; then
        echo "$LAB_GIVEN"
    else
        echo "$LAB_GIVEN" | grep -vxF "$LAB_CLOSED"
    fi
}

# A trap for each function of the lab, and for whatever is given: lab__trap_NAME.
# traps OUTPUT
traps() {
    {
        echo '#include "lab.h"'
        {
            lab_names | tr ' ' '\n'
            sed 's/ .*//' "$LAB_DOORS"
        } | sort -u | awk '/^[A-Za-z_][A-Za-z_0-9]*$/ {
            print "void lab__trap_" $1 "(void);"
            print "void lab__trap_" $1 "(void)\n{\n    lab_trap(\"" $1 "\");\n}"
        }'
    } >"$1.c"
    compile "$1.c" "$1" "" ""
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
debug)
    debug "$1" "$3.o"
    runner "$3.o" "$2" "$3"
    ;;
runners) runners "$@" ;;
doors) doors "$1" ;;
traps) traps "$1" ;;
*) fail "labcc.sh: '$action' is not one of compile, strict, without, runner, debug, runners, mutant," \
    "program, doors, traps" ;;
esac
