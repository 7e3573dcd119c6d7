# SPDX-License-Identifier: MIT
"""Programs print the same with the oldest and with the newest Clang that is installed here; .ci/run
installs the distribution's newest. Exit status 77 where there are no two."""

import re
import shutil
import sys

from rig import FULL, HERE, Case, cc, main, run

VALID = HERE / "valid"
RELEASES = [name for at in range(14, 20) if shutil.which(name := f"clang++-{at}")]
PROGRAMS = ("kernels", "device_code", "ptx_memory", "shared_forms", "idioms", "ptx", "variables")
PROGRAMS = PROGRAMS if FULL else PROGRAMS[:3]


class Releases(Case):
    def test_programs(self) -> None:
        for clang in (RELEASES[0], RELEASES[-1]):
            for name in PROGRAMS:
                with self.subTest(clang=clang, program=name):
                    text = (VALID / f"{name}.cu").read_text()
                    more = [
                        VALID / other
                        for line in re.findall(r"^// with: (.*)$", text, re.MULTILINE)
                        for other in line.split()
                    ]
                    flags = ("-w", "-O2", "-g", "--extended-lambda", "-o", "x")
                    source = VALID / f"{name}.cu"
                    built = cc(*flags, source, *more, folder=self.folder, VGPU_CLANG=clang)
                    self.assertEqual((built.returncode, built.stderr), (0, ""))
                    prints = re.findall(r"^// prints: (.*)$", text, re.MULTILINE)
                    self.assertEqual(run([self.folder / "x"]).stdout.splitlines(), prints)

    def test_a_kernel_that_is_combined_more_than_once(self) -> None:
        """LLVM 18 and newer would end the compiler there (vgpu/cc/lanes/lane_form.c)."""
        for clang in (RELEASES[0], RELEASES[-1]):
            words = ("-O2", "-c", "-o", "x.o", HERE.parent / "programs" / "groups.cu")
            built = cc(*words, folder=self.folder, VGPU_CLANG=clang)
            self.assertEqual((built.returncode, built.stderr), (0, ""))

    def test_an_error(self) -> None:
        """Clang's words differ; place and caret do not."""
        self.write("e.cu", "__global__ void k(int *p) { *p = missing; }\n")
        for clang in (RELEASES[0], RELEASES[-1]):
            said = cc("-c", "e.cu", folder=self.folder, VGPU_CLANG=clang).stderr
            self.assertIn("e.cu:1:34: error: use of undeclared identifier 'missing'", said)


if __name__ == "__main__":
    if len(RELEASES) < 2:
        print("there are no two releases of Clang here")
        sys.exit(77)
    main()
