# SPDX-License-Identifier: MIT
"""Of the upper room."""

from package.words.say import say


def run() -> str:
    return say("run")
