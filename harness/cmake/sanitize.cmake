# SPDX-License-Identifier: MIT
# sanitize.cmake: PEERLAB_SANITIZE=ON (preset asan) builds with AddressSanitizer and
# UndefinedBehaviorSanitizer: the node, the runtime and every program linked with it, vgpu-smi,
# vgpu-check, the harness, lab-jail, zero-plan, and the tests. Not so:
#   vgpu-exec      UBSan only: it switches stacks and catches faults on purpose
#   device images  nothing: their address space is the product
#   vgpu-cc        nothing: it is a compiler, and would only make the build longer. PEERLAB_NODE=FOLDER:
#                  it is linked from what another build of this checkout compiled
# What has AddressSanitizer is not optimized: optimizing its checks takes four times as long as all the
# rest of compiling, and hides what it could have reported.
#
# A node detaches, so its standard error is /dev/null, and it may fail after its program has ended
# well. So every test is started by sanitized.py, which gives all its processes a folder for reports,
# waits for all of them, and fails when a report is there. That is done in add_test() itself: no
# test can be left out.
option(PEERLAB_SANITIZE "ASan and UBSan in all but vgpu-cc, device images, and (ASan) vgpu-exec" OFF)
# Takes the sanitizers from a target again, or ASan only: peerlab_not_sanitized(TARGET [address])
function(peerlab_not_sanitized target)
  if(NOT PEERLAB_SANITIZE)
    return()
  endif()
  set(which all)
  if(ARGN)
    set(which ${ARGN})
  endif()
  target_compile_options(${target} PRIVATE -fno-sanitize=${which} -O2)
  target_link_options(${target} PRIVATE -fno-sanitize=${which})
endfunction()

if(NOT PEERLAB_SANITIZE)
  return()
endif()
if(PEERLAB_MEMCHECK)
  message(FATAL_ERROR "PEERLAB_SANITIZE and PEERLAB_MEMCHECK exclude each other.")
endif()

set(_sanitize -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -O0
    -fno-omit-frame-pointer)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # At these it guesses without optimizing.
  list(APPEND _sanitize -Wno-maybe-uninitialized -Wno-format-truncation)
endif()
add_compile_options(${_sanitize})
add_link_options(-fsanitize=address,undefined)
# What vgpu-cc and labcc.sh compile, and link.
set(PEERLAB_SANITIZE_HOST ${_sanitize})
list(JOIN PEERLAB_SANITIZE_HOST "," words)
# Clang compiles these as C++: an enum there has no values but its own, which calls with wrong
# arguments pass; and a mistake that a test is about may be arithmetic with a null pointer.
set(PEERLAB_SANITIZE_CUDA -Xcompiler ${words},-fno-sanitize=enum,-fno-sanitize=pointer-overflow)

# Target sanitized: what the tests of the preset asan need. Called when everything is known.
function(peerlab_sanitized_targets)
  add_library(sanitizer_proof OBJECT ${PROJECT_SOURCE_DIR}/harness/cmake/sanitizer_proof.c)
  target_link_libraries(vgpu-node PRIVATE sanitizer_proof)
  target_link_libraries(vgpu-smi PRIVATE sanitizer_proof)
  set(needed vgpu-node vgpu-exec vgpu-smi vgpu-check lab-jail zero-plan)
  foreach(folder IN ITEMS api node programs findings findings/correct)
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/tests/${folder}
                 PROPERTY BUILDSYSTEM_TARGETS)
    list(APPEND needed ${targets})
  endforeach()
  list(FILTER needed EXCLUDE REGEX "oracle") # the preset does not run them
  foreach(number RANGE 1 8)
    list(APPEND needed lab0${number}-check lab0${number}-check-hidden
         ${PROJECT_BINARY_DIR}/runners/solution0${number}-run)
  endforeach()
  list(APPEND needed ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/solution08-stages) # zero_plan runs it
  add_custom_target(sanitized DEPENDS ${needed})
endfunction()

set(PEERLAB_SANITIZED_TEST ${Python3_EXECUTABLE} -I -S ${CMAKE_CURRENT_LIST_DIR}/sanitized.py)

# add_test(NAME N COMMAND ...): as ever, but started by sanitized.py.
macro(add_test)
  _peerlab_sanitized_test(${ARGN})
endmacro()

function(_peerlab_sanitized_test)
  cmake_parse_arguments(T "COMMAND_EXPAND_LISTS" "NAME;WORKING_DIRECTORY" "COMMAND;CONFIGURATIONS"
                        ${ARGN})
  list(POP_FRONT T_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(where)
  if(T_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY ${T_WORKING_DIRECTORY})
  endif()
  _add_test(NAME ${T_NAME} COMMAND ${PEERLAB_SANITIZED_TEST} ${program} ${T_COMMAND} ${where})
endfunction()
