# SPDX-License-Identifier: MIT
# gpus.cmake: the real GPUs that this build's tests may have, and the code that is made for them.
#
# build/cuda/gpus.json is ctest's resource specification: with -j, each test gets GPUs of its own.
execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_VARIABLE listed ERROR_QUIET)
set(seen 0)
if(NOT no_gpu)
  string(REGEX MATCHALL "GPU [0-9]+:" listed "${listed}")
  list(LENGTH listed seen)
endif()
set(PEERLAB_GPUS ${seen} CACHE STRING "How many GPUs the tests may have, from GPU 0 on")

# Of the machine's GPUs where there are any; else code that later parts translate at load time.
if(NOT DEFINED PEERLAB_CUDA_ARCH)
  set(arch native)
  if(seen EQUAL 0)
    set(arch sm_80)
  endif()
  set(PEERLAB_CUDA_ARCH ${arch} CACHE STRING "For nvcc's -arch: native, sm_90, ...")
endif()

option(PEERLAB_MEMCHECK "The solutions' tests run under compute-sanitizer" OFF)
if(PEERLAB_MEMCHECK)
  find_program(PEERLAB_SANITIZER compute-sanitizer HINTS ${CUDAToolkit_BIN_DIR} REQUIRED)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/memcheck)
endif()

set(gpus)
if(PEERLAB_GPUS GREATER 0)
  math(EXPR last "${PEERLAB_GPUS} - 1")
  foreach(gpu RANGE ${last})
    list(APPEND gpus "{\"id\": \"${gpu}\", \"slots\": 1}")
  endforeach()
endif()
list(JOIN gpus ", " gpus)
set(CTEST_RESOURCE_SPEC_FILE ${PROJECT_BINARY_DIR}/gpus.json)
file(WRITE ${CTEST_RESOURCE_SPEC_FILE}
  "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
