# SPDX-License-Identifier: MIT
"""Whose correct answer is fastest, by the virtual node's own clock (docs/leaderboard.md).

timed      what is timed, on which nodes, and the times in a run
bound      the least time that the node's links and memory allow
board      who has which place; page is what the class sees of it
pseudonyms what students are called there
realgpus   times of the course's own programs on GPUs of this machine
"""
