# SPDX-License-Identifier: MIT
# layers.cmake: how the suite is layered. Every test of ctest has one layer, as a label:
#
#   unit       in one process, milliseconds: `ctest -L unit`
#   selfcheck  proves a checkout sound: `./lab selfcheck`, which runs unit, too
#   ci         must hold before a change lands: `./lab selfcheck --ci`, which runs all above, too
#   docs       what pages say and show: `./lab selfcheck --ci`
#   full       all that takes long: `./lab selfcheck --full`, which runs everything
#   learner    a learner's own tests, of no layer that must pass
#
# docs/testing.md has the table. A test without a layer, or with two, ends the configure step.
#
#   peerlab_test(NAME LAYER LAYER COMMAND ... [FULL] [LABELS ...] [ENVIRONMENT ...] [PROPERTIES ...])
#
# declares a test of the project, on a node of its own. It may say with status 77 that it cannot run.
# In layer full it has PEERLAB_FULL=1, and does more. FULL: also NAME.full, there. Label sanitized:
# of layer ci, and the preset asan runs all of it, so that `./lab selfcheck --ci` leaves it out.
#
#   peerlab_cannot_test(NAME LAYER LAYER REASON)   in place of one that lacks something: it is skipped

set(PEERLAB_LAYERS unit selfcheck ci docs full learner)
set(PEERLAB_TEST_SECONDS 900) # a last resort: the verifier has better deadlines
set(PEERLAB_FULL_SECONDS 3600)
# Modules are compiled once, and lie beside what else was built: not among the sources.
set(PEERLAB_PYTHON_CACHE PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/python)

# Of a test that add_test() made: gives it its layer, and other labels.
function(peerlab_layer name layer)
  if(NOT layer IN_LIST PEERLAB_LAYERS)
    list(JOIN PEERLAB_LAYERS ", " layers)
    message(FATAL_ERROR "The test ${name} has no layer: LAYER must be one of ${layers}, "
                        "and it is '${layer}'.")
  endif()
  get_property(layered GLOBAL PROPERTY PEERLAB_LAYERED)
  foreach(other IN LISTS ARGN)
    if(other IN_LIST PEERLAB_LAYERS)
      message(FATAL_ERROR "The test ${name} has two layers: ${layer}, and ${other} among its LABELS.")
    endif()
  endforeach()
  if(name IN_LIST layered)
    message(FATAL_ERROR "The test ${name} has two layers: ${layer} is its second.")
  endif()
  set_property(GLOBAL APPEND PROPERTY PEERLAB_LAYERED ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${layer};${ARGN}")
endfunction()

function(peerlab_test name)
  cmake_parse_arguments(TEST "FULL" "LAYER" "COMMAND;LABELS;ENVIRONMENT;PROPERTIES" ${ARGN})
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "peerlab_test(${name}): what is '${TEST_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT TEST_LAYER STREQUAL "full")
    _peerlab_add_test(${name} "${TEST_LAYER}" ${PEERLAB_TEST_SECONDS})
    string(APPEND name .full)
  endif()
  if(TEST_FULL OR TEST_LAYER STREQUAL "full")
    list(APPEND TEST_ENVIRONMENT PEERLAB_FULL=1)
    list(REMOVE_ITEM TEST_LABELS sanitized)
    _peerlab_add_test(${name} full ${PEERLAB_FULL_SECONDS})
  endif()
endfunction()

macro(_peerlab_add_test test layer seconds)
  string(SHA1 id "${PROJECT_BINARY_DIR}/${test}")
  string(SUBSTRING ${id} 0 16 id)
  add_test(NAME ${test} COMMAND ${TEST_COMMAND})
  peerlab_layer(${test} "${layer}" project ${TEST_LABELS})
  set_tests_properties(${test} PROPERTIES
    SKIP_RETURN_CODE 77
    TIMEOUT ${seconds}
    ENVIRONMENT "VGPU_NODE_ID=test-${id};${PEERLAB_PYTHON_CACHE};${TEST_ENVIRONMENT}")
  if(TEST_PROPERTIES)
    set_tests_properties(${test} PROPERTIES ${TEST_PROPERTIES})
  endif()
  set_property(TEST ${test} APPEND PROPERTY FIXTURES_REQUIRED build.tests) # course.cmake
endmacro()

function(peerlab_cannot_test name)
  cmake_parse_arguments(CANNOT "" "LAYER" "" ${ARGN})
  message(STATUS "${name} cannot run: ${CANNOT_UNPARSED_ARGUMENTS}")
  peerlab_test(${name} LAYER ${CANNOT_LAYER}
    COMMAND sh -c "echo \"$1\" && exit 77" sh "${CANNOT_UNPARSED_ARGUMENTS}")
endfunction()

# At the end of the project: no test came past peerlab_layer().
function(peerlab_check_layers)
  get_property(layered GLOBAL PROPERTY PEERLAB_LAYERED)
  set(folders ${PROJECT_SOURCE_DIR})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(tests DIRECTORY ${folder} PROPERTY TESTS)
    if(tests)
      list(REMOVE_ITEM tests ${layered})
    endif()
    if(tests)
      message(FATAL_ERROR "Tests without a layer in ${folder}: ${tests}. "
                          "Declare them by peerlab_test(NAME LAYER ...), harness/cmake/layers.cmake.")
    endif()
    get_property(more DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${more})
  endwhile()
endfunction()
