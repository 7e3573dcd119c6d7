# SPDX-License-Identifier: MIT
"""Unit tests of the front door: python3 -m unittest discover -s grader/tests -t ."""
