# SPDX-License-Identifier: MIT
# lab.cmake: builds a lab, the learner's and the reference's, and registers its tests.
#
#   peerlab_lab(NUMBER 03 NAME p2p-copy FILE p2p_copy.c
#     GIVEN given.c        files that come with the lab, linked beside the student's
#     CLOSED tools.c       of these, what does the tasks' own work: for tests of the whole lab only
#     USES labs/02-x/x.cu  files of another lab (objects, too), linked everywhere; a header: its
#                          folder is looked into
#     PROGRAM matrix.c     the lab's own main
#     FUNCTIONS 1:copy_path 2:copy_peer_async 3:stage_create 3:stage_destroy ...
#     NEEDS 5:copy_path 5:copy_peer_async ...
#                          which functions of other TODOs those of TODO(5) may call (and given ones
#                          that call more of the lab than that); all else ends the test (labcc.sh)
#     WATCHED sum_time     given functions that the student's file calls by lab_watched_sum_time, which
#                          the adapters define: to see how it is called, or to answer in its place
#     BESIDE 5:stage_create)
#                          which other functions of the lab the tests of TODO(5) call. A
#                          submission's TODO(5) is linked with the solution's answers to these and
#                          to what NEEDS has, and with no other
#
# labs/NN-name/ has all that learners get (the header, given files, tests/public.c, tests/runner.c or
# runner.cu), solutions/NN-name/ what they do not (the answer, tests/hidden.c).
#
# From solutions/NN-name/FILE:
#   target solution03 (in `all`)  lab03-check, lab03-check-hidden, solution03-run, solution03-PROGRAM,
#                                 and what submissions are linked with (labcc.sh)
#   target solution03-programs    solution03-run and solution03-PROGRAM only
#   tests  solution03.CASE, solution03.hidden.CASE
# From labs/NN-name/FILE, where it is there:
#   target lab03 (never in `all`) lab03-run-0 (all functions are the student's) and lab03-run-K (those
#                                 of TODO(K) only, the others are the reference's) and, where TODO(K)
#                                 has NEEDS, lab03-run-K-own (whatever is written is the student's);
#                                 PROGRAM
#   tests  lab03.CASE
# A handout (grader/export/handout.py) has skeletons/ in place of solutions/, and the reference as an object
# made beforehand, reference/PROCESSOR/03-p2p-copy.o. Where there is none for this machine, or GPUs
# are real, every function of its one runner, lab03-run, is the student's.
# Runners are in BUILD/runners, where only the tests start them; all other programs are in BUILD/bin.
# The tests first build what they need (fixture build.lab03), one build at a time.
#
# UNLISTED leaves the tests out, for the harness's own. SOLUTION_ROOT and STUDENT_ROOT replace
# solutions/ and labs/.
#
#   peerlab_vgpu_program(NAME SOURCES a.cu b.c)    a program of tests/ or bench/: tests/bin/NAME

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH PEERLAB_HARNESS_DIR)

include(${CMAKE_CURRENT_LIST_DIR}/layers.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lab_build.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lab_tests.cmake)

function(peerlab_lab)
  cmake_parse_arguments(LAB "UNLISTED" "NUMBER;NAME;FILE;PROGRAM;SOLUTION_ROOT;STUDENT_ROOT"
                        "GIVEN;CLOSED;USES;FUNCTIONS;NEEDS;WATCHED;BESIDE" ${ARGN})
  set(LAB_HANDOUT FALSE)
  if(NOT LAB_SOLUTION_ROOT)
    set(LAB_SOLUTION_ROOT ${PROJECT_SOURCE_DIR}/solutions)
    if(NOT EXISTS ${LAB_SOLUTION_ROOT} AND EXISTS ${PROJECT_SOURCE_DIR}/skeletons)
      set(LAB_SOLUTION_ROOT ${PROJECT_SOURCE_DIR}/skeletons)
      set(LAB_HANDOUT TRUE)
    endif()
  endif()
  if(NOT LAB_STUDENT_ROOT)
    set(LAB_STUDENT_ROOT ${PROJECT_SOURCE_DIR}/labs)
  endif()
  set(folder ${LAB_NUMBER}-${LAB_NAME})
  set(solution ${LAB_SOLUTION_ROOT}/${folder})
  set(student ${LAB_STUDENT_ROOT}/${folder})
  set(work ${PROJECT_BINARY_DIR}/labs/${folder})
  if(NOT EXISTS ${solution}/${LAB_FILE} OR NOT EXISTS ${student}/tests/public.c)
    message(STATUS "lab ${folder}: not here (no ${LAB_FILE}, or no tests/public.c)")
    return()
  endif()
  foreach(used IN LISTS LAB_USES)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${used})
      message(STATUS "lab ${folder}: not here (it uses ${used})")
      return()
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${work})
  _lab_reference()
  _lab_conf()
  _lab_verifiers()
  _lab_parts()
  if(NOT LAB_HANDOUT)
    _lab_solution()
  endif()
  if(EXISTS ${student}/${LAB_FILE})
    _lab_student()
  endif()
endfunction()
