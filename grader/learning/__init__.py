# SPDX-License-Identifier: MIT
"""A learner's progress: tests of their labs, stored results, the board; pictures of nodes and
traces."""
