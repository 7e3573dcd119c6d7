# SPDX-License-Identifier: MIT
"""Of the lower room: it imports upwards, inside a function, and so goes in a circle with run.py."""


def say(word: str) -> str:
    from ..commands import run

    return word if word == "run" else run.run()
