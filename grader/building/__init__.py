# SPDX-License-Identifier: MIT
"""Building a checkout and running its tests: what a machine has and lacks, CMake, ctest,
records."""
