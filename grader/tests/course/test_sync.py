# SPDX-License-Identifier: MIT
"""grader.course.sync: labs/ follows solutions/ and a learner's work is never lost."""

import json

from grader.base.exits import LabError
from grader.course.sync import State, compare, generate, handed_out, read_manifest, reset, sync
from grader.tests.fake import SKELETON, SOLUTION, FakeCheckout

SKELETON_FILE = "labs/01-tiny/tiny.c"


GENERATED = {"tiny.c", "tests/rubric.json"}
GIVEN = {"tiny.h", "README.md", "tests/public.c"}


class Sync(FakeCheckout):
    def sync(self, *, force: bool = False) -> dict[str, State]:
        return sync(self.project, [self.lab], force=force).states

    def state(self) -> State:
        return compare(self.project, [self.lab]).states["01-tiny/tiny.c"]

    def test_first_sync_writes_skeleton_and_leaves_hidden_tests_out(self) -> None:
        self.assertEqual(set(self.sync().values()), {State.MISSING})
        self.assertEqual(self.read(SKELETON_FILE), SKELETON)
        names = {path.split("/", 1)[1] for path in generate(self.project, self.lab)}
        self.assertEqual(names, GENERATED)
        listed = {f"01-tiny/{name}" for name in GENERATED | GIVEN}
        self.assertEqual(set(read_manifest(self.project)), listed)

    def test_what_learners_get_is_given_or_generated(self) -> None:
        self.write(SKELETON_FILE, "mine\n")
        self.write("labs/01-tiny/tiny.c.bak1", "mine, too\n")
        found = handed_out(self.project, self.lab)
        self.assertEqual({path.split("/", 1)[1] for path in found}, GENERATED | GIVEN)
        self.assertEqual(found["01-tiny/tiny.c"].decode(), SKELETON)

    def test_second_sync_touches_nothing(self) -> None:
        self.sync()
        times = {path: path.stat().st_mtime_ns for path in self.project.labs_dir.rglob("*")}
        self.assertEqual(set(self.sync().values()), {State.CURRENT})
        self.assertEqual(
            times, {path: path.stat().st_mtime_ns for path in self.project.labs_dir.rglob("*")}
        )

    def test_a_changed_solution_replaces_an_unedited_skeleton(self) -> None:
        self.sync()
        self.write("solutions/01-tiny/tiny.c", SOLUTION.replace("double n", "n, twice"))
        self.assertEqual(self.state(), State.STALE)
        self.sync()
        self.assertEqual(self.state(), State.CURRENT)
        self.assertIn("n, twice", self.read(SKELETON_FILE))

    def test_an_edited_file_is_left_alone_even_when_the_solution_changes(self) -> None:
        self.sync()
        self.write(SKELETON_FILE, "mine\n")
        for text in (SOLUTION, SOLUTION + "// more\n", SOLUTION + "// more still\n"):
            self.write("solutions/01-tiny/tiny.c", text)
            self.assertEqual(self.sync()["01-tiny/tiny.c"], State.EDITED)
            self.assertEqual(self.read(SKELETON_FILE), "mine\n")

    def test_a_file_that_stood_there_before_any_sync_counts_as_edited(self) -> None:
        self.write(SKELETON_FILE, "mine\n")
        self.assertEqual(self.sync()["01-tiny/tiny.c"], State.EDITED)
        self.assertEqual(self.read(SKELETON_FILE), "mine\n")

    def test_force_overwrites(self) -> None:
        self.sync()
        self.write(SKELETON_FILE, "mine\n")
        self.sync(force=True)
        self.assertEqual(self.read(SKELETON_FILE), SKELETON)

    def test_a_list_that_is_behind_a_given_file_is_told(self) -> None:
        self.sync()
        for change in ("changed\n", None):
            header = self.write("labs/01-tiny/tiny.h", change or "")
            if change is None:
                header.unlink()
            self.assertTrue(compare(self.project, [self.lab]).list_is_old)
            self.sync()
            self.assertFalse(compare(self.project, [self.lab]).list_is_old)
        self.assertNotIn("01-tiny/tiny.h", read_manifest(self.project))

    def test_a_rubric_names_no_hidden_case(self) -> None:
        case = {"case": "twice", "todo": 1, "points": 60}
        hidden = [{"case": f"hidden.{name}", "todo": 1, "points": 20} for name in ("odd", "even")]
        whole = {"lab": "lab01", "points": 100, "cases": [case, *hidden]}
        self.write("solutions/01-tiny/tests/rubric.json", json.dumps(whole))
        self.sync()
        shown = json.loads(self.read("labs/01-tiny/tests/rubric.json"))
        self.assertEqual(shown["cases"], [case])
        self.assertEqual(shown["hidden"], {"cases": 2, "points": 40})
        self.write("solutions/01-tiny/tests/rubric.json", json.dumps(shown))  # as in a handout
        self.sync()
        self.assertEqual(json.loads(self.read("labs/01-tiny/tests/rubric.json")), shown)

    def test_reset_keeps_every_copy(self) -> None:
        self.sync()
        for number in (1, 2):
            self.write(SKELETON_FILE, f"attempt {number}\n")
            kept = reset(self.project, self.lab)
            self.assertEqual(kept, {"01-tiny/tiny.c": f"01-tiny/tiny.c.bak{number}"})
            self.assertEqual(self.read(SKELETON_FILE), SKELETON)
            self.assertEqual(self.read(f"{SKELETON_FILE}.bak{number}"), f"attempt {number}\n")
        self.assertEqual(reset(self.project, self.lab), {})

    def test_executable_files_stay_executable(self) -> None:
        script = self.write("solutions/01-tiny/run", "#!/bin/sh\n")
        script.chmod(0o755)
        self.sync()
        self.assertTrue((self.root / "labs/01-tiny/run").stat().st_mode & 0o100)

    def test_a_broken_manifest_is_named(self) -> None:
        self.write("labs/.generated.json", "[1, 2")
        with self.assertRaisesRegex(LabError, "git checkout"):
            self.sync()
