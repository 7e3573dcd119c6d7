# SPDX-License-Identifier: MIT
"""Names of files that are made from names of students: whatever a student is called, the file is a
plain one, another student's is another, and it stays in its folder."""

import hashlib
import re


def file_name(student: str) -> str:
    """The name as it is where it is harmless, else a readable part of it and a hash."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,59}", student) and student == student.lower():
        return student
    plain = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40].lower() or "student"
    mark = hashlib.sha256(student.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{plain}-{mark}"
