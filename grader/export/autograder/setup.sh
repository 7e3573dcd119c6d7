#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gradescope runs this once, as root, while it makes the autograder's image: it installs what the
# course needs and builds its trusted programs, so that grading builds nothing but the submission.
set -euo pipefail
: "${AUTOGRADER:=/autograder}"
course=$AUTOGRADER/course
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    gcc g++ clang libc6-dev binutils ninja-build cmake libcjson-dev python3 python3-pip bubblewrap
mkdir -p "$course"
python3 -m zipfile -e "$AUTOGRADER/source/course.zip" "$course"
chmod 755 "$course/lab"
chmod 711 "$course" # the sandbox's users go through it to the headers, and see nothing else
chmod 700 "$AUTOGRADER/source"
cd "$course"
./lab start --only-setup --grader
cmake --preset vgpu
IFS=, read -r -a labs <"$AUTOGRADER/source/labs"
cmake --build --preset vgpu --target lab-jail vgpu-cc "${labs[@]/#/solution}"
