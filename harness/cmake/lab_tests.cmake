# SPDX-License-Identifier: MIT
# lab_tests.cmake: ctest's side of a lab; used by peerlab_lab() only.
#
# The names of the tests must be known before anything is built, and no student code may run to
# learn them. The lists are in the trusted files public.c and hidden.c: these are compiled while
# configuring, with list.c in place of the harness, and asked.

configure_file(${CMAKE_CURRENT_LIST_DIR}/ctest_custom.cmake.in ${PROJECT_BINARY_DIR}/CTestCustom.cmake
               @ONLY)

set(PEERLAB_ORDERS 3 CACHE STRING "In how many other orders a test runs that leaves an order open, 0 to 3")

# Lets `ctest -R lab03` be typed in a folder: ctest goes where the DartConfiguration.tcl of the folder
# in which it is started says, and leaves nothing behind there. Of several build trees build/vgpu is
# the one that it goes to.
function(_lab_ctest_from folder)
  if(PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build/vgpu" AND IS_DIRECTORY ${folder})
    file(CONFIGURE OUTPUT ${folder}/DartConfiguration.tcl
         CONTENT "# Written by CMake: where the tests are that ctest runs in this folder.
BuildDirectory: @PROJECT_BINARY_DIR@
" @ONLY)
    file(REMOVE_RECURSE ${folder}/Testing/Temporary) # of a ctest before this file was there
    file(GLOB others ${folder}/Testing/*)
    if(NOT others)
      file(REMOVE_RECURSE ${folder}/Testing)
    endif()
  endif()
endfunction()
_lab_ctest_from(${PROJECT_SOURCE_DIR})

# Compiles and asks, when a source is newer than the list that is there. The list is NAME|TODO|POINTS|QUICK|GPUS|TIMED.
function(_lab_case_list source variable)
  cmake_path(GET source STEM stem)
  set(program ${work}/list-${stem})
  file(GLOB inputs ${source} ${student}/tests/*.[ch] ${student}/*.h ${PEERLAB_HARNESS_DIR}/case.h
       ${PEERLAB_HARNESS_DIR}/cmake/list.c)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  set(fresh TRUE)
  foreach(input IN LISTS inputs)
    if(${input} IS_NEWER_THAN ${program}.txt)
      set(fresh FALSE)
    endif()
  endforeach()
  if(NOT fresh)
    file(REMOVE ${program}.txt)
    execute_process(
      COMMAND ${lab_cc} -w -O0 -g0 -fno-sanitize=all -o ${program} ${source}
              ${PEERLAB_HARNESS_DIR}/cmake/list.c -lm
      RESULT_VARIABLE failed ERROR_VARIABLE errors)
    if(NOT failed)
      execute_process(COMMAND ${program} OUTPUT_FILE ${program}.txt)
    endif()
    if(failed)
      message(WARNING "${source} does not compile, so its tests are not known:\n${errors}")
      file(REMOVE ${program}.txt)
      set(${variable} "does-not-compile|0|0|0|0|0|0" PARENT_SCOPE)
      return()
    endif()
  endif()
  file(STRINGS ${program}.txt cases)
  set(${variable} "${cases}" PARENT_SCOPE)
endfunction()

# The learner's own tests are a layer, which need not pass.
function(_lab_layer variable side)
  set(${variable} selfcheck PARENT_SCOPE)
  if(side STREQUAL "learner")
    set(${variable} learner PARENT_SCOPE)
  endif()
endfunction()

# One ctest test a case: PREFIX.CASE.
function(_lab_register prefix source verifier side kind runner student_file)
  if(LAB_UNLISTED)
    return()
  endif()
  _lab_case_list(${source} cases)
  set(checked)
  if(PEERLAB_MEMCHECK AND side STREQUAL "solution")
    set(checked ${runner}-memcheck)
    configure_file(${PEERLAB_HARNESS_DIR}/cmake/memcheck.sh.in ${checked} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  string(REGEX REPLACE "\\..*$" "" label ${prefix})
  _lab_layer(layer ${side})
  foreach(entry IN LISTS cases)
    string(REPLACE "|" ";" fields "${entry}")
    list(GET fields 0 case)
    list(GET fields 1 todo)
    list(GET fields 3 quick)
    set(labels ${label} ${kind} todo${todo})
    if(NOT side STREQUAL "learner")
      list(APPEND labels ${side})
      if(quick) # `ctest -L quick` passes in a fresh checkout
        list(APPEND labels quick)
      endif()
    endif()
    set(name ${prefix}.${case})
    list(GET fields 6 no_memcheck)
    set(started ${runner})
    if(checked AND NOT no_memcheck)
      set(started ${checked})
    endif()
    add_test(NAME ${name}
      COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${verifier} --runner ${started} --case ${case}
              --as ${prefix} --source ${student_file} --results ${PEERLAB_RESULTS}
              --orders ${PEERLAB_ORDERS})
    peerlab_layer(${name} ${layer} ${labels})
    set_tests_properties(${name} PROPERTIES
      SKIP_RETURN_CODE 77
      FIXTURES_REQUIRED build.${label}
      TIMEOUT ${PEERLAB_TEST_SECONDS})
    if(side STREQUAL "learner") # what is not written has not failed: written.labNN says so
      set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "not written yet")
    endif()
    list(GET fields 4 gpus)
    list(GET fields 5 timed)
    peerlab_needs_gpus(${name} ${gpus})
    if(timed AND NOT PEERLAB_BACKEND STREQUAL "vgpu")
      set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()

# On real GPUs a test has its own: as many as it can use, or all where there are fewer (it then does
# with them, or says that it cannot run).
function(peerlab_needs_gpus test gpus)
  if(PEERLAB_BACKEND STREQUAL "vgpu" OR PEERLAB_GPUS EQUAL 0)
    return()
  endif()
  if(gpus LESS 1)
    set(gpus 1)
  elseif(gpus GREATER PEERLAB_GPUS)
    set(gpus ${PEERLAB_GPUS})
  endif()
  set_tests_properties(${test} PROPERTIES RESOURCE_GROUPS "${gpus},gpus:1")
endfunction()

# The test that builds what the others run.
function(_lab_build_fixture target side student_file)
  if(LAB_UNLISTED)
    return()
  endif()
  add_test(NAME build.${target}
    COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D TARGET=${target} -D FILE=${student_file}
            -D ROOT=${PROJECT_SOURCE_DIR} -D RESULTS=${PEERLAB_RESULTS}
            -P ${PEERLAB_HARNESS_DIR}/cmake/build_first.cmake)
  _lab_layer(layer ${side})
  peerlab_layer(build.${target} ${layer} build)
  set_tests_properties(build.${target} PROPERTIES
    FIXTURES_SETUP build.${target}
    RESOURCE_LOCK build
    COST 2000 # before tests that hold the lock for minutes (tests/hostile)
    TIMEOUT ${PEERLAB_TEST_SECONDS})
endfunction()

# The test that fails while a learner's task that was tested is not written.
function(_lab_written lab)
  if(LAB_UNLISTED)
    return()
  endif()
  add_test(NAME written.${lab}
    COMMAND ${CMAKE_COMMAND} -D RESULTS=${PEERLAB_RESULTS} -D LAB=${lab}
            -P ${PEERLAB_HARNESS_DIR}/cmake/all_written.cmake)
  peerlab_layer(written.${lab} learner)
  set_tests_properties(written.${lab} PROPERTIES FIXTURES_CLEANUP build.${lab})
endfunction()
