# SPDX-License-Identifier: MIT
"""./lab pack: unpacked in another folder, the virtual node is linked of the archive's objects, and
lab 01 passes with the solution."""

import json
import os
import platform
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

from classroom import BUILD, PROJECT, Classroom, file_name, solution

from grader.export import pack


class Pack(Classroom):
    def there(self, *words: str) -> str:
        without = {**os.environ, "CCACHE_DISABLE": "1"}
        done = subprocess.run(
            words, cwd=self.root, env=without, capture_output=True, text=True, timeout=600
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_node_is_linked_of_the_archives_objects(self) -> None:
        self.lab("pack", self.folder / "pack.zip", "--labs", "1", "--no-build")
        with zipfile.ZipFile(self.folder / "pack.zip") as file:
            file.extractall(self.folder)
        self.root = self.folder / "peerlab"
        self.objects = self.root / "objects" / platform.machine()
        (self.root / "lab").chmod(0o755)
        self.assertGreater(len(list(self.objects.rglob("*.o"))), 250)
        self.there("cmake", "--preset", "vgpu", *self.generator())
        path = self.root / "labs" / PROJECT.lab("01").folder / file_name("01")
        path.write_text(solution("01"), encoding="utf-8")
        said = self.there("./lab", "test", "01")
        self.assertRegex(said, r"\n\d+ passed: (\d+) of \1 points")
        self.assertLessEqual(self.compiled(), {"main.c", "node.c", "node_start.c", "places.c"})
        self.assertIn("node.c", self.compiled())
        self.check_an_edited_source()

    def generator(self) -> list[str]:
        text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        return ["-G", "Ninja"] if "CMAKE_GENERATOR:INTERNAL=Ninja" in text else []

    def compiled(self) -> set[str]:
        """The sources of the node, its contexts, the runtime and vgpu-cc that were compiled there:
        their objects are others than the archive's."""
        build, found = self.root / "build" / "vgpu", set()
        for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            words = entry["command"].split()
            output = words[words.index("-o") + 1]
            made = build / output
            kept = self.objects / output.rpartition("CMakeFiles/")[2]
            if not output.startswith("vgpu/") or not made.is_file():
                continue
            if not kept.is_file() or kept.read_bytes() != made.read_bytes():
                found.add(Path(entry["file"]).name)
        return found - {"nothing.c"}

    def check_an_edited_source(self) -> None:
        """It is compiled, here by `false`; before, its object was copied."""
        source = self.root / "vgpu" / "common" / "number.c"
        made = self.folder / "CMakeFiles" / "vgpu_common.dir" / "number.c.o"
        script = self.root / "harness" / "cmake" / "packed.sh"
        made.parent.mkdir(parents=True)
        words = ["sh", script, self.root, "false", "-o", made, "-c", source]
        self.assertEqual(subprocess.run(words, check=False).returncode, 0)
        kept = self.objects / "vgpu_common.dir" / "number.c.o"
        self.assertEqual(made.read_bytes(), kept.read_bytes())
        source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        self.assertEqual(subprocess.run(words, check=False).returncode, 1)


class Symbols(unittest.TestCase):
    def test_a_function_that_an_older_glibc_lacks_is_named(self) -> None:
        calls = "int close_range(unsigned, unsigned, int);\n"
        calls += "int f(void) { return close_range(3, 4, 0); }\n"
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "new.o")
            words = ["gcc", "-x", "c", "-", "-c", "-o", made]
            subprocess.run(words, input=calls, text=True, check=True)
            packed = {"objects/x86_64/new.c.o": (made.read_bytes(), 0o644)}
        self.assertEqual(pack.too_new(PROJECT, packed), ["close_range"])


if __name__ == "__main__":
    unittest.main()
