# SPDX-License-Identifier: MIT
# Read where `ctest` is typed and build/vgpu is missing; DartConfiguration.tcl names that folder.
message(FATAL_ERROR "This checkout is not set up yet, so there are no tests. Run:\n"
  "  ./lab start\n  (or: cmake --workflow --preset vgpu)")
