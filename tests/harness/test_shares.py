# SPDX-License-Identifier: MIT
"""How many real GPUs a test gets from ctest: what it can use, as far as there are so many."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Test: its GPUs on machines of 1, 2 and 8.
WANTED = {
    "solution01.count": (1, 1, 1),
    "solution04.start": (1, 2, 4),  # needs four
    "solution05.put": (1, 2, 4),  # ranks share
    "solution06.send": (1, 2, 4),
    "solution07.all": (1, 2, 4),
    "solution07.hidden.all_many": (1, 2, 8),
    "solution08.bus": (1, 2, 2),
    "solution08.step": (1, 2, 4),
    "solution08.shard": (1, 1, 1),  # none at all
}


def shares(gpus: int, folder: str) -> dict[str, int]:
    """Of every test, by ctest's own account."""
    words = ["cmake", "-S", str(ROOT), "-B", folder, "-DPEERLAB_BACKEND=cuda"]
    subprocess.run([*words, f"-DPEERLAB_GPUS={gpus}"], check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run(
        ["ctest", "--test-dir", folder, "--show-only=json-v1"],
        check=True,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("CTEST_")},
    )
    found = {}
    for test in json.loads(told.stdout)["tests"]:
        for known in test["properties"]:
            if known["name"] == "RESOURCE_GROUPS":
                asked = [x for group in known["value"] for x in group["requirements"]]
                found[test["name"]] = sum(x["slots"] for x in asked)
    return found


class Shares(unittest.TestCase):
    def test_of_machines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for at, gpus in enumerate((1, 2, 8)):
                found = shares(gpus, folder)
                got = {name: found[name] for name in WANTED}
                self.assertEqual(got, {name: said[at] for name, said in WANTED.items()}, gpus)
            self.assertEqual(shares(0, folder), {})


if __name__ == "__main__":
    unittest.main()
