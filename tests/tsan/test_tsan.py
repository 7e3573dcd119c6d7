# SPDX-License-Identifier: MIT
"""What host threads do at the same time in the runtime, under ThreadSanitizer.

test_tsan.py CC WORK VGPU_CC VGPU_EXEC. The runtime is compiled once more with -fsanitize=thread,
and a node with pinned memory where ThreadSanitizer knows of memory (VGPU_HOST_VA). Compiling takes
most of the time.
"""

import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VGPU = ROOT / "vgpu"
SKIPPED = 77
COMMON = sorted((VGPU / "common").glob("*.c"))
WHERE = ["-DVGPU_HOST_VA=0x7e9000000000ull", f"-I{VGPU / 'include'}", f"-I{VGPU / 'common'}"]


def folders(part: Path) -> list[Path]:
    """A part's folder, its rooms and their doors."""
    return [part, *sorted(folder for folder in part.rglob("*") if folder.is_dir())]


PLAIN = ["-std=gnu11", "-D_GNU_SOURCE=", "-g", *WHERE]  # optimizing takes longer than it saves
THREAD = [
    *PLAIN,
    "-fsanitize=thread",
    "-fno-omit-frame-pointer",
    *(f"-I{x}" for x in folders(VGPU / "api")),
]


class Tsan(unittest.TestCase):
    cc: ClassVar[str]
    work: ClassVar[Path]
    vgpu_cc: ClassVar[str]
    exec: ClassVar[Path]

    @classmethod
    def compile(cls, sources: list[Path], flags: list[str], name: str) -> list[str]:
        folder = cls.work / name
        folder.mkdir(parents=True, exist_ok=True)
        objects = [str(folder / f"{path.parent.name}-{path.stem}.o") for path in sources]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = zip(sources, objects, strict=True)
            done = pool.map(lambda job: cls.run_cc([*flags, "-c", job[0], "-o", job[1]]), jobs)
        assert all(done), "it does not compile"
        return objects

    @classmethod
    def run_cc(cls, words: list[object]) -> bool:
        done = subprocess.run([cls.cc, *map(str, words)], check=False, capture_output=True)
        sys.stderr.write(done.stderr.decode(errors="replace"))
        return done.returncode == 0

    @classmethod
    def setUpClass(cls) -> None:
        nodes = f'-DVGPU_NODES_DIR="{VGPU / "nodes"}"'
        bins = f'-DVGPU_BIN_DIR="{cls.work}"'
        node = sorted((VGPU / "node").rglob("*.c"))
        flags = [*PLAIN, *(f"-I{folder}" for folder in folders(VGPU / "node")), nodes]
        objects = cls.compile([*node, *COMMON], flags, "node")
        assert cls.run_cc([*objects, "-o", cls.work / "vgpu-node", "-lcjson", "-lm"])
        api = sorted((VGPU / "api").rglob("*.c"))
        objects = cls.compile([*api, *COMMON], [*THREAD, bins], "api")
        link = cls.work / "vgpu-exec"
        link.unlink(missing_ok=True)
        link.symlink_to(cls.exec)
        gomp, image = cls.work / "libgomp-seen.so", cls.work / "image.so"
        assert cls.run_cc([*THREAD, "-fPIC", "-shared", HERE / "gomp.c", "-o", gomp])
        assert cls.run_cc(["-shared", cls.compile_kernels("image", "-DIMAGE"), "-o", image])
        kernels = cls.compile_kernels("kernels", f'-DIMAGE_PATH="{image}"')
        sources = [HERE / f"{name}.c" for name in ("everything", "memory", "together")]
        tests = [f"-I{ROOT / 'tests/api'}", *sources, *objects, kernels, gomp]
        libraries = ["-rdynamic", f"-Wl,-rpath,{cls.work}", "-lpthread", "-ldl"]
        for name, more in (("everything", []), ("proof", ["-DPROOF"])):
            assert cls.run_cc([*THREAD, *more, *tests, "-o", cls.work / name, *libraries])

    @classmethod
    def compile_kernels(cls, name: str, define: str) -> Path:
        out = cls.work / f"{name}.o"
        include = f"-I{ROOT / 'tests/api'}"
        flags = [include, "-g", "-Xcompiler", "-fPIC,-fsanitize=thread,-fno-exceptions", define]
        words = [cls.vgpu_cc, "-c", HERE / "kernels.cu", "-o", out, *flags]
        subprocess.run([str(word) for word in words], check=True)
        return out

    def ask(self, name: str, checks: str) -> subprocess.CompletedProcess[str]:
        own = {"VGPU_NODE": "hgx-h200-4", "VGPU_CHECK": checks, "VGPU_QUIET": "1"}
        return subprocess.run(
            [self.work / name],
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def test_threads_that_use_everything(self) -> None:
        for checks in ("api", "order,api", "all"):
            done = self.ask("everything", checks)
            said = sorted(set(done.stdout.split()))
            self.assertEqual((done.returncode, said, done.stderr), (0, ["right", "told"], ""))

    def test_a_race_is_seen(self) -> None:
        done = self.ask("proof", "api")
        self.assertIn("WARNING: ThreadSanitizer: data race", done.stderr)


def has_tsan(cc: str) -> bool:
    words = [cc, "-fsanitize=thread", "-xc", "-", "-o", "/dev/null"]
    program = b"int main(void) { return 0; }"
    return subprocess.run(words, input=program, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    Tsan.cc, Tsan.work = sys.argv[1], Path(sys.argv[2]).resolve()
    Tsan.vgpu_cc, Tsan.exec = sys.argv[3], Path(sys.argv[4])
    if not has_tsan(Tsan.cc):
        print(f"{Tsan.cc} has no ThreadSanitizer")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
