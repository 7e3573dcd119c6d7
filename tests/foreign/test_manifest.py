# SPDX-License-Identifier: MIT
"""The files that name other people's programs are well formed, the recorded tables have verdicts of
programs that they name, and the pages show those tables."""

import json
import pathlib
import re
import tempfile
import unittest
from datetime import date

import sweep


class Manifest(unittest.TestCase):
    def test_files(self) -> None:
        for repository, manifest in sweep.manifests().items():
            with self.subTest(repository):
                allowed = {"repository", "commit", "folder", "defaults", "programs", "left_out"}
                self.assertLessEqual(manifest.keys(), allowed)
                self.assertRegex(manifest["repository"], r"^https://github.com/[\w.-]+/[\w.-]+$")
                self.assertRegex(manifest["commit"], r"^([0-9a-f]{40}|v[0-9.]+)$")
                self.assertLessEqual(manifest.get("defaults", {}).keys(), sweep.FIELDS)
                self.assertTrue(manifest["programs"])
                for names in manifest.get("left_out", {}).values():
                    self.assertFalse(manifest["programs"].keys() & set(names))

    def test_programs(self) -> None:
        for repository, manifest in sweep.manifests().items():
            for name, fields in manifest["programs"].items():
                with self.subTest(f"{repository}/{name}"):
                    self.assertLessEqual(fields.keys(), sweep.FIELDS)
                    whole = sweep.merged(manifest.get("defaults", {}), fields)
                    self.assertIn("right", whole)
                    for pattern in [whole["right"], *whole.get("smaller", {})]:
                        re.compile(pattern)
                    if "smaller" in whole:
                        self.assertIn("usual", whole, "what it computes by itself")

    def test_nothing_is_written_into_the_checkout(self) -> None:
        """A program writes over a file that it finds, and another is built in a folder of it."""
        with tempfile.TemporaryDirectory() as place:
            checkout, work = pathlib.Path(place) / "checkout", pathlib.Path(place) / "work"
            files = {checkout / "a" / "picture": "old", checkout / "a" / "more" / "b.cu": "code"}
            for path, text in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            for name in ("a", "a/more"):
                sweep.Program("r", checkout, name, {}).prepare(work / name, checkout)
            (work / "a" / "picture").write_text("new")
            (work / "a" / "more" / "program").write_text("built")
            found = {path: path.read_text() for path in checkout.rglob("*") if path.is_file()}
            self.assertEqual(found, files)

    def test_refused_device_code_is_no_right_answer(self) -> None:
        program = sweep.Program("a", sweep.HERE, "b", {"right": "Done"})
        said = "vgpu: x: device code that nvcc compiled cannot be loaded: k.ptx:3:1: error: no fns"
        self.assertEqual(program.judge(0, "Done\n"), ("right", ""))
        said_of_call = "vgpu: cudaGraphAddNode: not modelled by the virtual node yet"
        self.assertEqual(program.judge(1, said_of_call), ("needs", "cudaGraphAddNode"))
        self.assertEqual(program.judge(0, f"{said}\nDone\n"), ("needs", "k.ptx:3:1: error: no fns"))

    def test_tables(self) -> None:
        for path in sweep.PAGES:
            self.check_table(sweep.read_table(path))

    def check_table(self, table: dict) -> None:
        known = {
            f"{repository}/{name}"
            for repository, manifest in sweep.manifests().items()
            for name in manifest["programs"]
        }
        self.assertEqual(table["machine"], sweep.MACHINE)
        self.assertLessEqual(table["rows"].keys(), known)
        for name, row in table["rows"].items():
            with self.subTest(name):
                self.assertIn(row["verdict"], sweep.VERDICTS)
                date.fromisoformat(row["date"])
                self.assertEqual(bool(row["reason"]), row["verdict"] != "right", "a reason")
                self.assertIn(row.get("usual", row)["verdict"], sweep.VERDICTS)
        self.assertNotRegex(json.dumps(table), r"/(tmp|work|root|home)/")

    def test_page(self) -> None:
        for path, page in sweep.PAGES.items():
            text = page.read_text()
            self.assertEqual(text, sweep.page_with_tables(text, path), "run sweep.py --page")


if __name__ == "__main__":
    unittest.main()
