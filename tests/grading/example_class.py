# SPDX-License-Identifier: MIT
"""Makes a class to try ./lab grade with: python3 tests/grading/example_class.py FOLDER

Six students hand in lab 01: as folders, as archives, on time and late, right and wrong. The files
roster.csv, times.csv and extensions.csv beside FOLDER go with it; term/ is for a whole term, race/
for a leaderboard.
"""

import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.course.mutants import load, mutate, student_files
from grader.course.project import here
from grader.course.sync import generate

ROSTER = """\
student,name
ada,Ada Lovelace
bob,Bob Noyce
cyd,Cyd Charisse
dan,Dan Bricklin
eve,Eve Arden
fay,Fay Ajzenberg
gus,Gus Grissom
"""
TIMES = """\
student,submitted
ada,2026-11-20T22:10
bob,2026-11-20T23:58
cyd,2026-11-21T09:00
dan,2026-11-20T23:50
eve,2026-11-20T20:00
fay,2026-11-20T21:00
"""


EXTENSIONS = """\
student,until
gus,2099-01-01T00:00
"""
TERM = {
    "course.toml": """\
late = 10                       # per cent off a day; also late_cap, grace_minutes, grave_cap
slip_days = 5                   # late days that cost a student nothing, in all labs together
slip_days_a_lab = 2             # at most this many of them for any one lab
feedback = "after deadline"     # or "at once" (the default), or a time

students = "roster.csv"
times = "../times.csv"
extensions = "../extensions.csv"
groups = "groups.csv"
withdrawn = "withdrawn.csv"
requests = "requests.csv"

[labs.01]
deadline = 2026-11-20T23:59:00
[labs.02]
deadline = 2026-12-04T23:59:00
feedback = "at once"
""",
    "roster.csv": ROSTER.replace("name\n", "name,joined\n") + "hal,Hal Abelson,2026-11-23T08:00\n",
    "groups.csv": "student,partner,lab\nada,fay,\n",
    "withdrawn.csv": "student,lab,why\neve,1,the wrong file\n",
    "requests.csv": "student,lab,asked,why,answer\n"
    "cyd,1,2026-11-24T10:00,Without a GPU it must fail.,The contract asks for 0 GPUs.\n",
}


def main(folder: Path) -> None:
    project = here()
    lab = project.lab("01")
    (path,) = student_files(project.solutions_dir / lab.folder)
    right = path.read_text(encoding="utf-8")
    mistake = load(project, lab)[0]
    put(folder / "ada.zip", f"labs/{lab.folder}/{path.name}", right)
    skeleton = generate(project, lab)[f"{lab.folder}/{path.name}"].decode()
    put(folder / "bob.zip", path.name, skeleton)
    write(folder / "cyd" / path.name, mutate(mistake, right, path.name))
    write(folder / "dan" / path.name, right.replace("int count = 0;", "int count = 0", 1))
    body = "{\n    volatile int *nowhere = 0;\n    *nowhere = 1;"
    write(folder / "eve" / path.name, right.replace("{", body, 1))
    put(folder / "fay.zip", f"../../solutions/{lab.folder}/{path.name}", right)
    write(folder.with_name("roster.csv"), ROSTER)
    write(folder.with_name("times.csv"), TIMES)
    write(folder.with_name("extensions.csv"), EXTENSIONS)
    for name, text in TERM.items():
        write(folder.with_name("term") / name, text)
    race = project.solutions_dir / project.lab("03").folder / "p2p_copy.c"
    for student, text in (("ada", race.read_text()), ("ben", in_halves(race.read_text()))):
        write(folder.with_name("race") / student / race.name, text)


def in_halves(right: str) -> str:
    """A right answer that is slower where GPUs reach each other."""
    call = "rc = copy_peer_async(dst, dst_dev, src, src_dev, bytes, stream);"
    before = f"        {call}\n    if (!rc)\n        *taken"
    assert right.count(before) == 1
    first = call.replace("bytes", "bytes / 2")
    rest = call.replace("dst,", "(char *)dst + bytes / 2,", 1).replace(
        "src,", "(const char *)src + bytes / 2,", 1
    )
    rest = rest.replace("bytes, stream", "bytes - bytes / 2, stream")
    return right.replace(before, before.replace(call, f"{{ {first} if (!rc) {rest} }}"))


def put(archive: Path, name: str, text: str) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(name, text)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
