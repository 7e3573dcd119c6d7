# SPDX-License-Identifier: MIT
# course.cmake: the target `course` is what a learner and a grader need: all that `all` builds, but for
# the project's own tests and bench. `./lab start` builds it, in half of the time. A test of the
# project needs more, so its fixture build.tests builds the rest before it.

# peerlab_course(FOLDER...): called when everything is known; without these folders of the root.
function(peerlab_course)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE left_out)
  add_custom_target(course)
  set(folders ${PROJECT_SOURCE_DIR})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(more DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    list(REMOVE_ITEM more ${left_out})
    list(APPEND folders ${more})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(asked_for ${target} EXCLUDE_FROM_ALL)
      if(NOT asked_for AND NOT target STREQUAL "course")
        add_dependencies(course ${target})
      endif()
    endforeach()
  endwhile()
endfunction()

# The fixture of the project's tests. A build of its own kind (sanitizers, nvcc) is asked for by name.
if(PEERLAB_SANITIZE OR PEERLAB_NVCC OR NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/CMakeLists.txt)
  return()
endif()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
add_test(NAME build.tests
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --parallel ${cores})
peerlab_layer(build.tests selfcheck build)
set_tests_properties(build.tests PROPERTIES
  FIXTURES_SETUP build.tests
  RESOURCE_LOCK build
  COST 3000 # before everything, which waits for it
  TIMEOUT ${PEERLAB_FULL_SECONDS})
