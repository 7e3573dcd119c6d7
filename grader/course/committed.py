# SPDX-License-Identifier: MIT
"""Reads from git the committed files of a folder, independent of a learner's changes.

"Committed" means the index, so that a maintainer can check what is about to be committed.
"""

import subprocess
from pathlib import Path


def committed_files(root: Path, folder: str) -> dict[str, bytes] | None:
    """Path below `folder` to contents, from git's index; None without a git checkout."""
    if not (root / ".git").exists():
        return None
    listed = _git(root, "ls-files", "--stage", "-z", "--", folder)
    if listed is None:
        return None
    entries = [entry for entry in listed.decode().split("\0") if entry]
    blobs = {path: words.split()[1] for words, path in (entry.split("\t", 1) for entry in entries)}
    contents = _blobs(root, sorted(set(blobs.values())))
    return {path[len(folder) + 1 :]: contents[blob] for path, blob in blobs.items()}


def _blobs(root: Path, names: list[str]) -> dict[str, bytes]:
    """Contents by blob name: cat-file prints "NAME blob SIZE\\n", the contents and "\\n"."""
    answer = _git(root, "cat-file", "--batch", stdin="\n".join(names).encode() + b"\n") or b""
    found: dict[str, bytes] = {}
    at = 0
    for name in names:
        head = answer.index(b"\n", at)
        size = int(answer[at:head].split()[2])
        found[name] = answer[head + 1 : head + 1 + size]
        at = head + 1 + size + 1
    return found


def _git(root: Path, *words: str, stdin: bytes = b"") -> bytes | None:
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=root,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
