# SPDX-License-Identifier: MIT
"""What `./lab` runs: set-up, tests, scoreboard, hints, grading, and the proof that a checkout is
sound.

A folder is a room, one subject each; docs/architecture.md has their order, and imports go down it
only. Reading order: `commands.cli` (what can be typed), `course.project` (where things lie),
`course.strip` and `course.sync` (labs/ from solutions/), `building.ctest` and `building.records`
(running tests), `learning.scoreboard`, `selfcheck`.
"""
