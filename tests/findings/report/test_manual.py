# SPDX-License-Identifier: MIT
"""The manual has every feature of the report of what is exact, modelled, approximated and not
modelled, in the words of `vgpu-check --help`: test_manual.py BIN MANUAL"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

BIN, MANUAL = Path(sys.argv[1]), Path(sys.argv[2])
KINDS = "exact|modelled|approximated|not modelled"


class Manual(unittest.TestCase):
    def test_it_has_what_help_says(self) -> None:
        words = [BIN / "vgpu-check", "--help"]
        told = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
        rows = re.findall(rf"^  ({KINDS}) +([^:]+): (.+)$", told, re.M)
        self.assertGreater(len(rows), 15)
        self.assertEqual({kind for kind, _, _ in rows}, set(KINDS.split("|")))
        page = MANUAL.read_text(encoding="utf-8").replace("`", "")
        self.assertEqual(re.findall(rf"^\| ({KINDS}) \| (.+?) \| (.+?) \|$", page, re.M), rows)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
