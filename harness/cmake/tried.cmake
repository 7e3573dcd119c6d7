# SPDX-License-Identifier: MIT
# tried.cmake: PEERLAB_TRIED is OFF with a C compiler that is newer than all that have compiled the
# course (docs/systems.md): what it warns of must not stop a learner's build.
set(PEERLAB_TRIED ON)
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 17)
    OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 22))
  set(PEERLAB_TRIED OFF)
endif()
