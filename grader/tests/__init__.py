# SPDX-License-Identifier: MIT
"""Unit tests of `./lab`: python3 tests/grader/run.py"""

import os

os.fsync = lambda fd: None  # tests need no durable writes, which take minutes on a disk
