# SPDX-License-Identifier: MIT
"""docs/session-lab03.md, played again: its `diff` blocks are what the newcomer edits, its `console`
blocks what they type and read. A checkout of its own is made for it; nobody's labs/ are touched.

    test_session.py ROOT BUILD            the page shows what happens
    test_session.py ROOT BUILD --write    write down what happens
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT))
from grader.course.diagnoses import apply_diff  # noqa: E402
from grader.course.project import Project  # noqa: E402
from grader.course.sync import handed_out, sync  # noqa: E402

PAGE = ROOT / "docs" / "session-lab03.md"
FILE = "labs/03-p2p-copy/p2p_copy.c"
BLOCK = re.compile(r"^```(?P<kind>diff|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINKED = ("docs", "harness", "vgpu", "solutions")
SECONDS = 300


@dataclass(frozen=True)
class Checkout:
    root: Path

    def make(self) -> None:
        """As after ./lab start: configured, and every lab as it came."""
        for name in LINKED:
            (self.root / name).symlink_to(ROOT / name)
        ignored = shutil.ignore_patterns("tests", "__pycache__")
        shutil.copytree(ROOT / "grader", self.root / "grader", ignore=ignored)
        for name in ("lab", "CMakePresets.json"):
            shutil.copy(ROOT / name, self.root / name)
        shutil.copy(Path(__file__).parent / "checkout" / "CMakeLists.txt", self.root)
        project = Project(self.root)
        for lab in project.labs():
            for path, contents in handed_out(Project(ROOT), lab).items():
                target = project.labs_dir / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(contents)
        sync(project, project.labs())
        self.run("cmake", "--preset", "vgpu", f"-DBUILT={BUILD}", *self._generator())
        self.run("cmake", "--build", "build/vgpu", "--target", "lab03", "-j2")

    def _generator(self) -> list[str]:
        ninja = shutil.which("ninja")
        return ["-G", "Ninja"] if ninja else []

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words, cwd=self.root, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def edit(self, diff: str) -> None:
        path = self.root / FILE
        path.write_text(apply_diff(path.read_text(encoding="utf-8"), diff), encoding="utf-8")

    def typed(self, line: str) -> str:
        """What a line typed there says, on a terminal of 100 columns without colours."""
        words = line.split()
        assert words[0] == "./lab", line
        env = {key: value for key, value in os.environ.items() if not key.startswith("VGPU_")}
        env |= {"COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        done = subprocess.run(
            [sys.executable, "-B", *words],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        errors = done.stderr.lstrip(".\n")  # a dot a test, which a terminal does not show
        return f"{done.stdout}{errors}".replace(f"{self.root}/", "").strip("\n") + "\n"


def played(page: str, checkout: Checkout) -> str:
    """The page with every output as it is now."""

    def one(block: re.Match[str]) -> str:
        if block["kind"] == "diff":
            checkout.edit(block["text"])
            return block[0]
        lines = [line for line in block["text"].splitlines() if line.startswith("$ ")]
        said = "".join(f"{line}\n{checkout.typed(line[2:])}" for line in lines)
        return f"```console\n{said}```"

    return BLOCK.sub(one, page)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="peerlab-session-") as folder:
        checkout = Checkout(Path(folder).resolve())
        checkout.make()
        now = played(page, checkout)
    if "--write" in sys.argv:
        PAGE.write_text(now, encoding="utf-8")
    elif now != page:
        shown = difflib.unified_diff(page.splitlines(), now.splitlines(), "the page", "now")
        print("\n".join(shown))
        print("\nWhere that is right: tests/session/test_session.py ROOT BUILD --write")
        return 1
    print(f"{len(BLOCK.findall(page))} blocks of {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
