# SPDX-License-Identifier: MIT
"""Unit tests of the front door: python3 tests/grader/run.py"""

import os

os.fsync = lambda fd: None  # what tests write need not outlive the machine; a disk takes minutes
