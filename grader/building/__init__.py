# SPDX-License-Identifier: MIT
"""Builds a checkout and runs its tests: the machine's tools, CMake, ctest, records."""
