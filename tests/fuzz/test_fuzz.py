# SPDX-License-Identifier: MIT
"""Does fuzz.py find a back end that is wrong, and make the program small that shows it?

test_fuzz.py VGPU_CC FUZZ. The wrong back ends are the interpreter itself with a call left out.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fuzz

HERE = Path(__file__).parent
VGPU_CC, FUZZ = sys.argv[1:3]
WORK = Path(tempfile.mkdtemp(prefix="fuzz-"))
FIRST, COUNT = 100000, 80


def mutant(name: str, file: str, old: str, new: str) -> str:
    """The interpreter with one line changed."""
    folder = WORK / name
    folder.mkdir()
    shutil.copy(HERE.parent / "cuda12.h", WORK)
    for source in [*HERE.glob("*.c"), *HERE.glob("*.cu"), *HERE.glob("*.h")]:
        text = source.read_text()
        if source.name == file:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / source.name).write_text(text)
    sources = [str(x) for x in [*folder.glob("*.c"), *folder.glob("*.cu")]]
    output = str(folder / "fuzz")
    subprocess.run([VGPU_CC, "-O1", "-o", output, *sources, "-lcuda"], check=True)
    return output


def options(**more: object) -> argparse.Namespace:
    values = {"first": FIRST, "count": COUNT, "jobs": 2, "gpus": 4, "seconds": 100.0}
    values |= {
        "minimise": 60.0,
        "servers": 1,
        "most": 2,
        "groups": 1,
        "together": True,
        "sample": 0,
        "most_programs": 1 << 30,
    }
    return argparse.Namespace(**(values | more))


class Fuzz(unittest.TestCase):
    def compared(self, wrong: str) -> dict:
        out = WORK / "found.json"
        fuzz.compare(options(a=FUZZ, b=wrong, out=str(out)))
        return json.loads(out.read_text())

    def test_same(self) -> None:
        """Nothing differs from itself, so no program depends on time or on the ones before it."""
        self.assertEqual(self.compared(FUZZ)["differ"], [])

    def test_no_waiting_for_events(self) -> None:
        wrong = mutant(
            "wait",
            "run_work.c",
            "said(cudaStreamWaitEvent(s->handle, e->live ? e->handle : NULL, 0))",
            "said(e->live ? cudaSuccess : cudaStreamWaitEvent(s->handle, NULL, 0))",
        )
        found = self.compared(wrong)
        self.assertTrue(found["differ"], "memory did not show that a stream did not wait")
        self.assertLess(min(len(x["keep"]) for x in found["sorts"]), 16)

    def test_wrong_code(self) -> None:
        wrong = mutant(
            "peer",
            "run_memory.c",
            "if (said(cudaDeviceEnablePeerAccess(a[0], (unsigned)a[2])))",
            "if (said(cudaDeviceEnablePeerAccess(a[0], 0)))",
        )
        found = self.compared(wrong)
        self.assertTrue(found["differ"])
        self.assertLess(len(found["sorts"][0]["keep"]), 6)

    def test_differs_once(self) -> None:
        """What is not said again when a program is asked again is kept."""
        wrong = mutant(
            "once",
            "main.c",
            "static void print_answers(void)\n{",
            "static void print_answers(void)\n{\n"
            '    if (!options.serve && shared->seed == 100003)\n        say("odd\\n");',
        )
        found = self.compared(wrong)
        self.assertEqual(found["differ"], [100003])
        (sort,) = found["sorts"]
        self.assertEqual(sort["difference"], list(fuzz.NOT_AGAIN))
        (entry,) = sort["once"]
        self.assertEqual(entry["b"], [*entry["a"], "odd"])
        self.assertTrue(entry["program"])

    def test_an_earlier_programs_descriptors(self) -> None:
        """Program 1072713 takes a descriptor; one of the 12 before it leaves one behind."""
        alone = fuzz.run(FUZZ, options(first=1072713, count=1, gpus=2))
        after = options(first=1072713 - 12, count=13, gpus=2, jobs=1)
        wrong = mutant("left", "main.c", "    pair_forget();\n    state_begin(", "    state_begin(")
        self.assertEqual(fuzz.run(FUZZ, after)[1072713], alone[1072713])
        self.assertNotEqual(fuzz.run(wrong, after)[1072713], alone[1072713])

    def test_memory_lent_to_another_process_stays(self) -> None:
        """Program 3117904 frees memory that its other process has open. Now it would not."""
        stays = mutant("stays", "fuzz.h", "FUZZ_LENT_STAYS = 4000000", "FUZZ_LENT_STAYS = 0")
        asked = options(first=3117904, count=1, gpus=2)
        (_, before), (_, now) = (fuzz.run_text(x, asked, 1) for x in (FUZZ, stays))
        pairs = zip(before[3117904], now[3117904], strict=False)
        first = next((a, b) for a, b in pairs if a != b)
        self.assertEqual(first, ("11 p0 free -> 0 last 0", "11 p0 free skip last 0"))

    def test_wrong_record(self) -> None:
        lines = [f"{seed} {rest}" for seed, rest in fuzz.run(FUZZ, options(count=3)).items()]
        seed, _, rest = lines[1].partition(" ")
        changed = [lines[0], f"{seed} {'1' if rest[0] == '0' else '0'}{rest[1:]}"]
        (WORK / "fuzz_cases.json").write_text('{"cases": []}')
        (WORK / "fuzz_2.txt").write_text("# nothing\n")
        for said, status in ((lines, 0), (changed, 1)):
            (WORK / "fuzz.txt").write_text("# a machine\n" + "\n".join(said) + "\n")
            self.assertEqual(fuzz.replay(options(programs=[FUZZ, str(WORK)])), status)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
