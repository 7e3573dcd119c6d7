# SPDX-License-Identifier: MIT
# Lets `ctest -R lab03` be typed in the root of the checkout: the tests are those of build/vgpu.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/build/vgpu/CTestTestfile.cmake")
  subdirs("build/vgpu")
else()
  message(FATAL_ERROR "This checkout is not set up yet, so there are no tests to run. "
    "Run ./lab start (or: cmake --workflow --preset vgpu).")
endif()
