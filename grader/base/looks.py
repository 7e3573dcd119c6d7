# SPDX-License-Identifier: MIT
"""Output styles of `./lab`: with colours and signs, or plain for a screen reader, a log, an old
terminal.

Colour needs a terminal and no NO_COLOR (https://no-color.org). Plain is requested by --plain or
PEERLAB_PLAIN, and selected where the terminal or its encoding cannot show signs. Information never
depends on colour or sign alone: plain text has a word in place of each.
"""

import os
import sys
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Looks:
    color: bool = False
    plain: bool = False

    def paint(self, text: str, code: str) -> str:
        """`code` is a terminal's attribute number: "31" red, "1" bold."""
        return f"\033[{code}m{text}\033[0m" if self.color and code else text


_chosen = Looks()


def looks() -> Looks:
    return _chosen


def choose(plain: bool = False, to: TextIO | None = None) -> Looks:
    """Chooses the style once, at the start of a command. On a stream that cannot encode a
    character, a question mark replaces it, and the command continues."""
    global _chosen
    stream = to or sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    dumb = os.environ.get("TERM") == "dumb"
    plain = plain or bool(os.environ.get("PEERLAB_PLAIN")) or dumb or not _shows_signs(stream)
    color = stream.isatty() and not plain and not os.environ.get("NO_COLOR")
    _chosen = Looks(color=color, plain=plain)
    return _chosen


def _shows_signs(stream: TextIO) -> bool:
    try:
        "●○✗–".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
