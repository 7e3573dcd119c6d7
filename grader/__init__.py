# SPDX-License-Identifier: MIT
"""What `./lab` runs: set-up, tests, scoreboard, hints, and the proof that a checkout is sound.

Reading order: `cli` (the commands), `project` (where things lie), `strip` and `sync` (labs/ from
solutions/), `ctest` and `records` (running tests), `scoreboard`, `selfcheck`.
"""
