# SPDX-License-Identifier: MIT
"""commands.watch: a save runs the tests, shows what changed, and waiting uses no CPU time."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.base.looks import Looks
from grader.commands import watch
from grader.learning import standing
from grader.tests.fake_build import FakeBuild

MINE = "labs/01-tiny/tiny.c"
ALL = ["again", "twice", "whole"]
ROOT = Path(__file__).resolve().parents[3]


class Watch(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        self.configure()
        plain = mock.patch("grader.base.looks._chosen", Looks())
        plain.start()
        self.addCleanup(plain.stop)

    def ran(self) -> list[str]:
        """The cases that ran since this was last asked."""
        path = self.root / "ran"
        found = path.read_text(encoding="utf-8").split()
        path.unlink()
        return sorted(found)

    def watched(self, *saves: dict[str, str]) -> str:
        """The output for these saves, one after the other, and for Ctrl-C after the last."""
        left = list(saves)
        looks = 0

        def sleep(_: float) -> None:
            nonlocal looks
            looks += 1
            if looks % 3 == 0:
                if not left:
                    raise KeyboardInterrupt
                for path, text in left.pop(0).items():
                    self.write(path, text)

        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(watch.command(self.project, "01", sleep), ExitStatus.OK)
        return said.getvalue()

    def test_a_save_shows_the_lines_and_the_tests_that_changed(self) -> None:
        self.write(MINE, "one\ntwo\nthree\n")
        verdicts = '{"twice": "pass", "again": "pass", "whole": "fail"}'
        said = self.watched({MINE: "one\n2\nthree\n", "verdicts.json": verdicts})
        self.assertIn("Watching labs/01-tiny", said)
        self.assertIn(f"{MINE}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", said)
        self.assertEqual(said.count("of 100 points"), 2)
        self.assertIn("lab01.twice: passed, was: not written yet", said)
        self.assertNotIn("lab01.whole: ", said)
        self.assertIn("No longer watching.", said)

    def test_what_failed_is_built_and_run_first(self) -> None:
        """Its runner, of the whole lab, is linked before that of TODO(1)."""
        self.write(MINE, "one")
        self.watched()
        (self.root / "linked").unlink()
        said = self.watched({MINE: "1 two"}).split("-one\n+1 two\n")[1]
        self.assertEqual((self.root / "linked").read_text(encoding="utf-8").split(), ["0", "1"])
        self.assertEqual(said.count("lab01.whole in full"), 1)
        self.assertLess(said.index("lab01.whole in full"), said.index("lab01.again"))
        verdicts = '{"twice": "pass", "again": "pass", "whole": "pass"}'
        said = self.watched({MINE: "three", "verdicts.json": verdicts})
        self.assertIn("lab01.whole: passed, was: failed", said)

    def test_what_failed_runs_once(self) -> None:
        self.write(MINE, "1 a\n")
        self.watched()
        self.ran()
        self.watched({MINE: "1 b\n"})
        self.assertEqual(self.ran(), sorted([*ALL, *ALL]))  # at the beginning, and a save

    def test_what_passed_is_repeated_only_if_its_program_is_another_one(self) -> None:
        self.verdict(twice="pass", whole="pass")
        self.write(MINE, "1 a\n")
        for what, others in (
            ("a line of another task", ({MINE: "1 a\n2 b\n"}, ["whole"])),
            ("one of its own", ({MINE: "1 b\n"}, ["again", "twice", "whole"])),
            ("the verifier", ({MINE: "1 a\n", "check": self.read("check") + "\n"}, ALL)),
        ):
            with self.subTest(what):
                self.write(MINE, "1 a\n")
                said = self.watched(others[0])
                self.assertEqual(self.ran(), sorted([*ALL, *others[1]]))
                self.assertEqual(said.count("3 passed: 100 of 100 points"), 2)
                self.assertEqual("Not repeated: 2 " in said, others[1] == ["whole"])
                self.assertEqual(said.count("● lab01.twice"), 1 + ("twice" in others[1]))

    def test_on_real_gpus_everything_is_repeated(self) -> None:
        self.verdict(twice="pass", whole="pass")
        cache = self.project.build_dir / "CMakeCache.txt"
        real = cache.read_text(encoding="utf-8").replace("STRING=vgpu", "STRING=cuda")
        cache.write_text(real, encoding="utf-8")
        self.watched({MINE: "2 b\n"})
        self.assertEqual(self.ran(), sorted([*ALL, *ALL]))

    def test_a_kept_result_is_of_the_file_that_was_saved(self) -> None:
        """So that ./lab status does not take it for an old one."""
        self.verdict(twice="pass", whole="pass")
        self.watched({MINE: "2 b\n"})
        saved = (self.root / MINE).stat().st_mtime
        for record in standing.load(self.project).tests.values():
            self.assertGreaterEqual(record.written, saved, record.test)

    def test_a_save_while_the_tests_run_runs_them_again(self) -> None:
        said = self.watched(
            {MINE: "1 a\n", "compiles": f"test -e late || echo late >>{MINE}; touch late"}
        )
        self.assertEqual(said.count("of 100 points"), 3)
        self.assertIn("+late", said)

    def test_nothing_is_run_without_a_save(self) -> None:
        self.assertEqual(self.watched().count("of 100 points"), 1)
        self.assertEqual(self.watched({"labs/01-tiny/tiny.c.bak1": "x"}).count("points"), 1)

    def test_saved_as_it_was_and_long_changes(self) -> None:
        self.write(MINE, "same\n")
        os.utime(self.root / MINE, (1, 1))
        self.assertIn("Saved without a change.", self.watched({MINE: "same\n"}))
        self.assertIn("... and ", self.watched({MINE: "new\n" * 100}))

    def test_a_file_that_does_not_compile_is_no_end(self) -> None:
        broken = "echo 'labs/01-tiny/tiny.c:3:1: error: no' >&2; exit 1"
        said = self.watched({MINE: "broken", "compiles": broken}, {MINE: "mended", "compiles": ""})
        self.assertIn("tiny.c does not compile yet", said)
        self.assertEqual(said.count("of 100 points"), 2)

    def test_a_lab_that_is_not_there(self) -> None:
        with self.assertRaises(LabError):
            watch.command(self.project, "09")

    def test_ctrl_c_ends_it_and_waiting_is_free(self) -> None:
        """The real command, in a separate process."""
        program = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path\n"
            "from grader.commands import watch; from grader.course.project import Project\n"
            f"sys.exit(watch.command(Project(Path({str(self.root)!r})), '01'))"
        )
        words = [sys.executable, "-B", "-u", "-c", program]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or []:
                if "points" in line:
                    break
            time.sleep(0.3)
            before = _cpu(process.pid)
            time.sleep(2)
            used = _cpu(process.pid) - before
            process.send_signal(signal.SIGINT)
            said = process.stdout.read() if process.stdout else ""
            self.assertEqual(process.wait(timeout=20), 0)
        self.assertLess(used, 0.2)
        self.assertIn("No longer watching.", said)
        self.assertNotIn("Traceback", said)


def _cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
