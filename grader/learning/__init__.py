# SPDX-License-Identifier: MIT
"""How a learner is doing: tests of their labs, what is kept of it, the board; a node and a trace as
pictures."""
