# SPDX-License-Identifier: MIT
"""What all of `./lab` stands on: how it ends, speaks and looks; programs and locks."""
