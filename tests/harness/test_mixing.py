# SPDX-License-Identifier: MIT
"""A runner for TODO(k) takes the functions of TODO(k) from the learner, all others from the
reference; and nothing but what it should."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

import toy

sys.path.insert(0, str(toy.ROOT))
from grader.building.loaded import digest


def runners(name: str, source: str) -> Path:
    """All runners of a learner's file; the result is their prefix."""
    file, object_, prefix = toy.WORK / f"{name}.c", toy.WORK / f"{name}.o", toy.WORK / f"{name}-run"
    file.write_text(source, encoding="utf-8")
    toy.labcc("compile", file, object_)
    for todo in (0, 1, 2, 3):
        toy.labcc("runner", object_, todo, f"{prefix}-{todo}")
    return prefix


def programs(name: str, todo: int, *, changed: bool = False) -> dict[str, int]:
    """How often the second link of a runner starts which program, but for what the compiler starts;
    the reference may have changed since the first."""
    file, object_, folder = toy.WORK / f"{name}.c", toy.WORK / f"{name}.o", toy.WORK / name
    log, conf, reference = folder / "log", folder / "lab.conf", folder / "reference.o"
    folder.mkdir()
    for word in ("awk", "cc", "dirname", "mkdir", "nm", "objcopy", "objdump", "rm", "sed", "tr"):
        real = shutil.which(word)
        (folder / word).write_text(f'#!/bin/sh\necho {word} >>{log}\nexec {real} "$@"\n', "utf-8")
        (folder / word).chmod(0o755)
    shutil.copy(toy.BUILD / "labs/90-toy/reference.o", reference)
    text = (toy.BUILD / "labs/90-toy/lab.conf").read_text(encoding="utf-8")
    for setting, value in (
        ("NM", folder / "nm"),
        ("OBJDUMP", folder / "objdump"),
        ("OBJCOPY", folder / "objcopy"),
        ("LINK", folder / "cc"),
        ("FOLDER", folder),
        ("REFERENCE", reference),
    ):
        text = re.sub(rf"(LAB_{setting}=')[^'\n]*", rf"\g<1>{value}", text)
    conf.write_text(text, encoding="utf-8")
    file.write_text(toy.SOLUTION.read_text(encoding="utf-8"), encoding="utf-8")
    toy.labcc("compile", file, object_)
    words = ["sh", str(toy.LABCC), str(conf), "runner", str(object_), str(todo), str(folder / "it")]
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run(words, check=True, env=env)
    log.unlink()
    if changed:
        os.utime(reference)
    subprocess.run(words, check=True, env=env)
    return dict(Counter(log.read_text(encoding="utf-8").split()))


class Mixing(unittest.TestCase):
    def statuses(self, prefix: Path) -> dict[str, int]:
        return {case: toy.check(prefix, case).status for case in ("one", "all", "sums", "whole")}

    def test_skeleton(self) -> None:
        got = self.statuses(runners("skeleton", toy.SKELETON.read_text(encoding="utf-8")))
        self.assertEqual(set(got.values()), {toy.NOT_WRITTEN})

    def test_later_task_first(self) -> None:
        """TODO(1) unwritten does not hide TODO(2), which calls it."""
        prefix = runners("second", toy.with_body("toy_double", "(void)x, (void)result;\nTODO(1);"))
        self.assertEqual(
            self.statuses(prefix),
            {"one": toy.NOT_WRITTEN, "all": toy.PASS, "sums": toy.PASS, "whole": toy.NOT_WRITTEN},
        )

    def test_wrong_one_is_seen(self) -> None:
        prefix = runners("wrong1", toy.with_body("toy_double", "*result = 3 * x;\nreturn 0;"))
        self.assertEqual(
            self.statuses(prefix),
            {"one": toy.FAIL, "all": toy.PASS, "sums": toy.PASS, "whole": toy.FAIL},
        )

    def test_two_functions_of_one_task(self) -> None:
        prefix = runners("sum", toy.with_body("toy_sum", "*result = 5 + *in * n;\nreturn 0;"))
        self.assertEqual(self.statuses(prefix)["sums"], toy.FAIL)

    def test_a_call_that_is_not_allowed(self) -> None:
        """While TODO(2) is tested the reference's toy_sum would answer. It is a trap instead."""
        prefix = runners("trap", toy.with_body("toy_double_all", "return toy_sum(in, n, out);"))
        got = toy.check(prefix, "all")
        self.assertEqual(got.status, toy.FAIL)
        self.assertIn(
            "your TODO(2) called toy_sum(), the answer to TODO(3). While TODO(2) is tested, it may "
            "call of the lab's other tasks: toy_double()",
            got.record["message"],
        )
        self.assertIn("replaced by the course's only where a task builds", got.record["why"])
        self.assertIn("do that work in TODO(2) itself", got.record["next"])

    def test_two_that_call_each_other(self) -> None:
        source = toy.with_body("toy_double", "return toy_double_all(&x, result, 1);")
        self.assertEqual(self.statuses(runners("each", source))["one"], toy.FAIL)
        source = toy.with_body("toy_double_all", "return toy_double(in[n - 1], out);")
        self.assertEqual(self.statuses(runners("other", source))["all"], toy.FAIL)

    def test_own_functions_once_more(self) -> None:
        """Right once, as TODO(1)'s test asks, and wrong ever after: TODO(2) fails with it."""
        source = toy.with_body(
            "toy_double", "*result = told++ ? 0 : 2 * x;\nreturn 0;", "static int told;"
        )
        prefix = runners("own", source)
        got = toy.check(prefix, "all")
        self.assertEqual((toy.check(prefix, "one").status, got.status), (toy.PASS, toy.FAIL))
        self.assertIn("with your own answers to the TODOs that it builds on", got.record["message"])
        self.assertEqual(got.record["builds_on"], [1])

    def test_helpers_do_not_meet(self) -> None:
        """Both files have a global `helper`; each calls its own. And main is only a name."""
        source = toy.with_body("helper", "return x - x + 1;", "int main(void);")
        source += "\nint main(void)\n{\n    return 0;\n}\n"
        prefix = runners("helpers", source)
        self.assertEqual(self.statuses(prefix)["one"], toy.FAIL)
        self.assertEqual(self.statuses(prefix)["all"], toy.PASS)

    def test_an_edit_leaves_runners_that_do_not_reach_it_as_they_were(self) -> None:
        """But for lines: what ./lab watch goes by, to repeat only the tests of what was edited. A
        runner with the learner's own functions has all of them."""
        edited = toy.with_body("toy_sum", "*result = n + *in;\nreturn 0;", "\n\n")
        before = runners("before", toy.SOLUTION.read_text(encoding="utf-8"))
        after = runners("after", edited)
        same = {
            todo
            for todo in ("0", "1", "2", "2-own", "3")
            if digest(Path(f"{before}-{todo}").read_bytes())
            == digest(Path(f"{after}-{todo}").read_bytes())
        }
        self.assertEqual(same, {"1", "2"})
        self.assertNotEqual(*(Path(f"{it}-1").read_bytes() for it in (before, after)))

    def test_a_runner_takes_few_programs(self) -> None:
        """Each save links all runners of a lab, and a program takes longer to start than to run.
        The reference's part is made by the first link."""
        few = {"awk": 1, "nm": 1, "objcopy": 1, "cc": 1, "rm": 1}
        self.assertEqual(programs("few", 1), few)
        self.assertEqual(
            programs("changed", 1, changed=True), {**few, "awk": 2, "nm": 2, "objcopy": 2}
        )
        self.assertEqual(
            programs("more", 2),
            {"awk": 4, "nm": 2, "objcopy": 3, "cc": 2, "objdump": 1, "rm": 1},
        )

    def test_a_complete_submission_has_one_program_with_its_own_functions(self) -> None:
        stub = toy.with_body("toy_sum", "(void)in, (void)n, (void)result;\nTODO(3);")
        for name, source in ("all", toy.SOLUTION.read_text(encoding="utf-8")), ("some", stub):
            file, object_, prefix = (toy.WORK / f"{name}{end}" for end in (".c", ".o", ""))
            file.write_text(source, encoding="utf-8")
            toy.labcc("compile", file, object_)
            toy.labcc("runners", object_, prefix, 0, 1, 2, 3)
            same = Path(f"{prefix}-0").samefile(f"{prefix}-2-own")
            self.assertEqual(same, name == "all")
            self.assertEqual(toy.check(prefix, "all").status, toy.PASS)

    def test_missing_function(self) -> None:
        source = toy.SOLUTION.read_text(encoding="utf-8").replace("toy_double_all", "toy_doubles")
        file, object_ = toy.WORK / "missing.c", toy.WORK / "missing.o"
        file.write_text(source, encoding="utf-8")
        toy.labcc("compile", file, object_)
        for todo in (0, 2):
            got = toy.labcc("runner", object_, todo, toy.WORK / "missing-run", check=False)
            self.assertNotEqual(got.returncode, 0)
            self.assertIn("error: not defined: toy_double_all() of TODO(2)", got.stderr)
        toy.labcc("runner", object_, 1, toy.WORK / "missing-run-1")


if __name__ == "__main__":
    unittest.main()
