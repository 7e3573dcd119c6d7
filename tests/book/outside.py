# SPDX-License-Identifier: MIT
"""Tries the links that lead out of the site, as `./lab docs --links` does, and notes nothing.

Only with PEERLAB_FULL=1 (`./lab selfcheck --full`); without a network nothing is tried, and it says
so (status 77).
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import tried  # noqa: E402
from grader.course.project import Project  # noqa: E402

if os.environ.get("PEERLAB_FULL") != "1":
    print("links are tried at full length only (PEERLAB_FULL=1)")
    sys.exit(77)
sys.exit(int(tried.command(Project(ROOT), note=False)))
