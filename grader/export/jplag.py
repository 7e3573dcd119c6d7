# SPDX-License-Identifier: MIT
"""Input for JPlag, which finds submissions that are too similar: one folder per lab with all files,
the skeleton as base code, the published solution as one more submission, and the command line.

JPlag's C front end only scans for tokens, so it takes whatever C, C++ and CUDA there is. The C++
one parses: it stops at `k<<<g, b>>>` and at C's `(struct x){.y = 1}`, and what follows is not
compared.
No front end recognises .cu by default, so the suffixes are listed.
"""

from pathlib import Path

from grader.course.project import Project
from grader.course.strip import as_read
from grader.course.sync import generate
from grader.grade.course import GradedLab
from grader.grade.journal import write_whole
from grader.grade.model import Submission
from grader.grade.names import file_name

SOLUTION = "_published-solution"  # no file_name() begins like this

_SCRIPT = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the submissions of {lab}. JPLAG is the path of jplag-*-jar-with-dependencies.jar, 6.2
# or later. ./lab pairs and this folder make a page of the result.
set -eu
cd "$(dirname "$0")"
rm -f result.jplag
exec java -jar "${{JPLAG:?set it to the path of the JPlag jar}}" --mode run \\
    -l c -p .cu,.cuh,.c,.h,.cpp -bc base -r result submissions "$@"
"""


def write(
    project: Project, lab: GradedLab, submissions: list[Submission], folder: Path
) -> dict[str, str]:
    """Writes folder/labNN; returns which folder there is whose. A group has one."""
    place = folder / lab.lab.name
    skeleton = generate(project, lab.lab)[f"{lab.lab.folder}/{lab.file}"].decode("utf-8")
    solution = project.solutions_dir / lab.lab.folder / lab.file
    write_whole(place / "base" / lab.file, skeleton)
    target = place / "submissions" / SOLUTION / lab.file
    write_whole(target, as_read(solution.read_text(encoding="utf-8")))
    names: dict[str, str] = {}
    for submission in submissions:
        if submission.contents is not None and submission.handed_in_by in ("", submission.student):
            name = file_name(submission.student)
            text = submission.contents.decode("utf-8", "replace")
            write_whole(place / "submissions" / name / lab.file, text)
            both = [submission.student, submission.partner]
            names[name] = " with ".join(filter(None, both))
    write_whole(place / "run.sh", _SCRIPT.format(lab=lab.lab.name))
    (place / "run.sh").chmod(0o755)
    return names
