# SPDX-License-Identifier: MIT
"""Names for a page that the whole class reads: "amber heron 4171".

They come from the student's id and a key of the class, which lies in class.json: they stay the same
for a course, and without the key nobody can try the names of a class to find whose is which.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from pathlib import Path

from grader.grade.journal import write_whole

_COLOURS = (
    "amber azure beige black blue bronze brown coral cream crimson cyan ebony emerald gold green "
    "grey indigo ivory jade lilac lime mauve olive orange pearl pink plum red rose silver teal "
    "violet"
)
_ANIMALS = (
    "badger bear beaver bison crane deer eagle falcon finch fox hare hawk heron ibis lark lemur "
    "lion lynx magpie marten moth newt otter owl panda puffin raven robin seal stork swan wolf"
)


def key(path: Path) -> bytes:
    """Of the class, from its class.json; drawn once, then kept there."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return bytes.fromhex(kept["pseudonyms"])
    except (OSError, ValueError, TypeError):
        kept = {}
    except KeyError:
        pass
    drawn = secrets.token_hex(32)
    write_whole(path, json.dumps({**kept, "pseudonyms": drawn}) + "\n")
    return bytes.fromhex(drawn)


def pseudonyms(students: Iterable[str], key: bytes) -> dict[str, str]:
    """By student. Two who would have the same name have a number with more digits."""
    everybody = sorted(set(students))
    short = {one: _name(one, key, 10_000) for one in everybody}
    taken = list(short.values())
    return {
        one: name if taken.count(name) == 1 else _name(one, key, 10**12)
        for one, name in short.items()
    }


def _name(student: str, key: bytes, numbers: int) -> str:
    colours, animals = _COLOURS.split(), _ANIMALS.split()
    drawn = int.from_bytes(hmac.digest(key, student.encode("utf-8", "replace"), hashlib.sha256))
    drawn, colour = divmod(drawn, len(colours))
    drawn, animal = divmod(drawn, len(animals))
    return f"{colours[colour]} {animals[animal]} {drawn % numbers}"
