# SPDX-License-Identifier: MIT
# setup.cmake: what holds for every target: places, standards, warnings, the compilers of a back end.

if(PROJECT_SOURCE_DIR STREQUAL PROJECT_BINARY_DIR)
  message(FATAL_ERROR "Build beside the sources, not among them: cmake --preset vgpu")
endif()
if(NOT PEERLAB_BACKEND MATCHES "^(vgpu|cuda)$")
  message(FATAL_ERROR "PEERLAB_BACKEND is '${PEERLAB_BACKEND}'; it can be vgpu or cuda.")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "peerlab runs on Linux (WSL2 too); this is ${CMAKE_SYSTEM_NAME}.")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, RelWithDebInfo or Release" FORCE)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" PEERLAB_BUILD_TYPE)

# A packed course (./lab pack) has the virtual node's objects.
if(EXISTS ${PROJECT_SOURCE_DIR}/objects/${CMAKE_SYSTEM_PROCESSOR})
  set(CMAKE_C_COMPILER_LAUNCHER sh ${PROJECT_SOURCE_DIR}/harness/cmake/packed.sh ${PROJECT_SOURCE_DIR})
endif()

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter) # once: each search starts it

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# What people type, and what that starts; programs of tests/ and bench/ are built elsewhere.
set(PEERLAB_BIN ${PROJECT_BINARY_DIR}/bin)
set(PEERLAB_TEST_BIN ${PROJECT_BINARY_DIR}/tests/bin)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PEERLAB_BIN})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(PEERLAB_RESULTS ${PROJECT_BINARY_DIR}/results) # one JSON file a test

add_compile_options(-Wall -Wextra "$<$<COMPILE_LANGUAGE:C>:-Wshadow;-Wconversion;-Wsign-conversion>")
# Everything of Linux and glibc, in all of C; C++ compilers say it themselves. Empty, as a file's own
# `#define _GNU_SOURCE` is, so that one more does no harm.
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)
if(PEERLAB_WERROR)
  add_compile_options(-Werror)
endif()

if(PEERLAB_BACKEND STREQUAL "cuda" OR PEERLAB_NVCC)
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "This preset needs the CUDA Toolkit, and no nvcc was found. Put it on "
      "the PATH (or set CUDAToolkit_ROOT), or take the virtual GPUs: cmake --preset vgpu")
  endif()
  if(CUDAToolkit_VERSION VERSION_LESS 12.4)
    message(FATAL_ERROR "This preset needs CUDA 12.4 or newer; "
      "${CUDAToolkit_NVCC_EXECUTABLE} is of ${CUDAToolkit_VERSION}.")
  endif()
endif()
if(PEERLAB_BACKEND STREQUAL "cuda")
  include(harness/cmake/gpus.cmake)
elseif(PEERLAB_NVCC)
  set(PEERLAB_CUDA_ARCH sm_80 CACHE STRING "For nvcc's -arch")
endif()

# Files as file(GLOB) finds them; CMake runs again when a file comes into one of their folders or goes.
# (CONFIGURE_DEPENDS looks at each build, and ninja then reads its files twice: half of the time of
# a build in which nothing is to do.)
function(peerlab_glob variable)
  file(GLOB found ${ARGN})
  set(${variable} ${found} PARENT_SCOPE)
  set(folders)
  foreach(pattern IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH pattern NORMALIZE)
    cmake_path(GET pattern PARENT_PATH folder)
    list(APPEND folders ${folder})
  endforeach()
  file(GLOB folders LIST_DIRECTORIES TRUE ${folders})
  foreach(folder IN LISTS folders)
    if(IS_DIRECTORY ${folder})
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder})
    endif()
  endforeach()
endfunction()
