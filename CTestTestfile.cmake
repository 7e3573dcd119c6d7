# SPDX-License-Identifier: MIT
# Lets `ctest -R lab03` be typed in the root of the checkout: the tests are those of build/vgpu.
if(EXISTS "build/vgpu/CTestTestfile.cmake") # ctest reads this file where it lies
  subdirs("build/vgpu")
else()
  message(FATAL_ERROR "This checkout is not set up yet, so there are no tests. Run:\n"
    "  ./lab start\n  (or: cmake --workflow --preset vgpu)")
endif()
