# SPDX-License-Identifier: MIT
"""The implementation of `./lab`: set-up, tests, scoreboard, hints, grading, and the selfcheck of a
checkout.

Each folder is a room with one subject; docs/architecture.md has their order, and imports follow
that order downwards only. Reading order: `commands.cli` (the commands), `course.project` (paths),
`course.strip` and `course.sync` (skeletons from solutions), `building.ctest` and `building.records`
(running tests), `learning.scoreboard`, `selfcheck`.
"""
