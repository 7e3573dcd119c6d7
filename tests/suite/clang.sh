#!/bin/sh
# SPDX-License-Identifier: MIT
# clang.sh SOURCE BUILD: all of it is built with clang, the tests' CUDA programs, too.
command -v clang++ >/dev/null || { echo 'no clang here'; exit 77; }
at=$2/with-clang
{
    cmake -S "$1" -B "$at" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ &&
        cmake --build "$at" -j"$(nproc)"
} >"$at.log" 2>&1 || {
    tail -n 40 "$at.log"
    exit 1
}
