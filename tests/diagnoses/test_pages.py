# SPDX-License-Identifier: MIT
"""Every diagnosis has its page and every page is about one; the wrong program of each, compiled and
run, gets that very diagnosis, and mended as the page says it does not.

    test_pages.py BUILD [--wrong | --mended] [CODE...]     these programs only, of these pages only

Without PEERLAB_FULL and --mended the mended programs are left out: they double the time.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import verdicts  # noqa: E402
from verdicts import VERDICTS  # noqa: E402

from grader.course.diagnoses import (  # noqa: E402
    HARDWARE,
    MEND,
    SECTIONS,
    WRONG,
    Page,
    named_in,
    pages,
    path_of,
    table,
)
from grader.course.project import Project  # noqa: E402

PROJECT = Project(ROOT)
PAGES = pages(PROJECT)
SECONDS = 300
# Their page says that the virtual node never answers so, and why.
ONLY_HARDWARE = {"35", "98"}
USED = re.compile(r"\bVGPU_DIAGNOSIS_([a-z]\w*)\b")
RUN = re.compile(r"// run: ((?:\w+=\S* )*)\./program$", re.MULTILINE)


def not_looked_for() -> set[str]:
    """The codes that nothing in vgpu/ finds."""
    folders = (ROOT / "vgpu" / name for name in ("node", "exec", "api"))
    sources = [path.read_text(encoding="utf-8") for f in folders for path in f.rglob("*.c")]
    used = {name for text in sources for name in USED.findall(text)}
    names = {page.code: re.sub(r"[.-]", "_", page.code) for page in PAGES if "." in page.code}
    return {code for code, name in names.items() if name not in used}


class Sources(unittest.TestCase):
    """What can be seen without running anything."""

    def test_every_finding_has_a_page_and_every_page_a_finding(self) -> None:
        mine = {page.code: page.title for page in PAGES if "." in page.code}
        theirs = table(PROJECT)
        self.assertEqual(mine.keys() ^ theirs.keys(), set(), "docs/diagnoses/CODE.md or its line")
        self.assertEqual(mine, theirs, "vgpu/common/diagnoses.def and the page differ in the title")

    def test_every_finding_is_looked_for(self) -> None:
        self.assertEqual(not_looked_for(), set(), "no file of vgpu/ has its VGPU_DIAGNOSIS_...")

    def test_every_finding_has_programs(self) -> None:
        """How many are enough is tests/findings' to say."""
        folder = ROOT / "tests" / "findings"
        texts = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.cu"))
        missing = [code for code in table(PROJECT) if f'"{code}"' not in texts]
        self.assertEqual(missing, [], "no program of tests/findings names these")

    def test_every_verdict_has_a_page(self) -> None:
        mine = {page.code for page in PAGES if not page.code.isdigit() and "." not in page.code}
        self.assertEqual(set(VERDICTS), mine)

    def test_every_page_has_all_sections_in_order(self) -> None:
        for page in PAGES:
            with self.subTest(page.code):
                self.assertEqual(list(page.sections), list(SECTIONS))
                self.assertTrue(all(text.strip() for text in page.sections.values()))
                self.assertEqual(path_of(PROJECT, page).stem, page.code)

    def test_every_error_has_a_name_and_a_code_only_once(self) -> None:
        for page in PAGES:
            with self.subTest(page.code):
                self.assertEqual(page.code.isdigit(), page.name.startswith("cudaError"))
        names = [page.name for page in PAGES if page.name]
        self.assertEqual(len(names), len(set(names)))

    def test_the_overview_links_every_page(self) -> None:
        text = (ROOT / "docs" / "diagnoses.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\(diagnoses/([\w.-]+)\.md\)", text))
        codes = {page.code for page in PAGES}
        self.assertEqual(linked ^ codes, set(), "docs/diagnoses.md has a row for each page")

    def test_messages_lead_to_their_pages(self) -> None:
        for text, code in (
            ("cudaMalloc returned cudaErrorMemoryAllocation", "2"),
            ("copy_path returned error 400, expected 0", "400"),
            ("unordered [order.gpus; ./lab explain order.gpus]", "order.gpus"),
            ("all is well, 700 times", None),
        ):
            with self.subTest(text):
                page = named_in(PAGES, text)
                if code is None or code in {page.code for page in PAGES}:
                    self.assertEqual(page and page.code, code)


class Programs(unittest.TestCase):
    """The programs, a few at a time."""

    build = Path()
    codes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ("wrong", "mended") if os.environ.get("PEERLAB_FULL") else ("wrong",)

    def test_each_gets_its_diagnosis_and_mended_does_not(self) -> None:
        with tempfile.TemporaryDirectory(prefix="peerlab-pages-") as folder:
            wanted = [page for page in PAGES if self._is_meant(page)]
            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                found = pool.map(lambda page: self.problem(Path(folder), page), wanted)
                for page, problem in zip(wanted, found, strict=True):
                    with self.subTest(page.code):
                        self.assertEqual(problem, "")
            self.assertTrue(wanted)

    def _is_meant(self, page: Page) -> bool:
        chosen = not self.codes or page.code in self.codes
        return chosen and page.code not in ONLY_HARDWARE

    def problem(self, folder: Path, page: Page) -> str:
        """What is wrong with a page's programs, "" where nothing is."""
        try:
            wrong, mended = page.program, page.mended
        except ValueError as error:
            return f"the diff does not fit: {error}"
        if page.code in VERDICTS:
            project = Project(ROOT, build=self.build)
            return verdicts.problem(project, folder, page.code, wrong, mended)
        if not wrong or wrong == mended:
            return f"no program in '{WRONG}', or no diff in '{MEND}'"
        found = self.problem_of_wrong(folder, page) if "wrong" in self.parts else ""
        return found or (self.problem_of_mended(folder, page) if "mended" in self.parts else "")

    def problem_of_wrong(self, folder: Path, page: Page) -> str:
        named = page.name or f"[{page.code};"
        status, said = self.run_program(folder, f"{page.code}-wrong", page.program)
        if named in said:
            return ""
        return f"the program does not get {named}: status {status}\n{said}"

    def problem_of_mended(self, folder: Path, page: Page) -> str:
        named = page.name or f"[{page.code};"
        status, said = self.run_program(folder, f"{page.code}-mended", page.mended)
        if named not in said and "finding:" not in said and status == 0:
            return ""
        return f"mended, it still gets a finding or fails: status {status}\n{said}"

    def run_program(self, folder: Path, name: str, text: str) -> tuple[int, str]:
        source, program = folder / f"{name}.cu", folder / name
        source.write_text(text, encoding="utf-8")
        compiler = [self.build / "bin" / "vgpu-cc", "-g", "-o", program, source, "-lcuda"]
        done = subprocess.run(compiler, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0 or done.stderr:
            return done.returncode, f"does not compile cleanly\n{done.stderr}"
        # Minimal programs about errors leave things behind; those about findings are whole.
        checks = "order,api,kernels" if name.split("-")[0].isdigit() else "all"
        more = {"VGPU_CHECK": checks, "VGPU_KERNEL_SECONDS": "2"}
        env = {**os.environ, **more, "VGPU_NODE_ID": f"pages-{os.getpid()}-{name}"}
        if line := RUN.search(text):
            env |= dict(word.split("=", 1) for word in line[1].split())
        done = subprocess.run(
            [program], env=env, capture_output=True, text=True, timeout=SECONDS, cwd=folder
        )
        return done.returncode, done.stdout + done.stderr


class Hardware(unittest.TestCase):
    def test_what_only_hardware_answers_is_said(self) -> None:
        for page in PAGES:
            with self.subTest(page.code):
                said = "never returns this" in page.sections[WRONG]
                self.assertEqual(said, page.code in ONLY_HARDWARE)
                self.assertTrue(page.sections[HARDWARE].strip())


if __name__ == "__main__":
    Programs.build = Path(sys.argv[1]).resolve()
    asked = [word for word in sys.argv[2:] if word.startswith("--")]
    Programs.parts = tuple(word[2:] for word in asked) or Programs.parts
    Programs.codes = tuple(word for word in sys.argv[2:] if word not in asked)
    unittest.main(argv=sys.argv[:1])
