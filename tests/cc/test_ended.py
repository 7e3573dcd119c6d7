# SPDX-License-Identifier: MIT
"""What vgpu-cc leaves, and says, if it is ended by a signal, or a program that it runs fails."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from rig import CC, Case, cc, main, run

KERNEL = """\
__global__ void k(int *p) { *p = VALUE; }
int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); }
"""

# Loaded before vgpu-cc: PLANT names one of LLVM's functions, and what it does instead.
PLANT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int planted(void)
{
    const char *way = strchr(getenv("PLANT"), ':') + 1;
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "crash") == 0)
        return *(volatile int *)8;
    if (strcmp(way, "exit") == 0)
        exit(1);
    for (;;)
        pause();
}
void *dlsym(void *library, const char *name)
{
    static void *(*real)(void *, const char *);
    static const char *const version[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    const char *plant = getenv("PLANT");
    for (int i = 0; i < 3 && real == NULL; i++)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", version[i]);
    if (plant != NULL && strncmp(plant, name, strlen(name)) == 0 && plant[strlen(name)] == ':')
        return (void *)planted;
    return real(library, name);
}
"""


class Ended(Case):
    def test_a_signal_leaves_nothing(self) -> None:
        self.write("a.cu", "#include <iostream>\n#include <regex>\n" + KERNEL)
        child = subprocess.Popen(
            [CC, "-c", "-O2", "-DVALUE=1", "a.cu"],
            cwd=self.folder,
            env=dict(os.environ, TMPDIR=str(self.folder)),
        )
        time.sleep(0.7)
        child.send_signal(signal.SIGTERM)
        self.assertIn(child.wait(timeout=20), (-signal.SIGTERM, 0))
        self.assertLessEqual(self.names(), {"a.cu", "a.o"})

    def clang_of(self, child: subprocess.Popen, output: str) -> int:
        """The process that writes this file, once a file with such a name is there."""

        def parent(pid: str) -> str:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[1]

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None:
            if any(name.startswith("a") and name != "a.cu" for name in self.names()):
                for pid in (d.name for d in pathlib.Path("/proc").iterdir() if d.name.isdigit()):
                    with contextlib.suppress(OSError):
                        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                        if output.encode() in words and parent(parent(pid)) == str(child.pid):
                            return int(pid)
        return self.fail("Clang wrote nothing")

    def test_a_killed_clang_leaves_nothing(self) -> None:
        self.write("a.cu", "#include <iostream>\n#include <regex>\n" + KERNEL)
        child = subprocess.Popen(
            [CC, "-c", "-O2", "-DVALUE=1", "a.cu"],
            cwd=self.folder,
            env=dict(os.environ, TMPDIR=str(self.folder)),
            stderr=subprocess.PIPE,
            text=True,
        )
        os.kill(self.clang_of(child, "a.o"), signal.SIGKILL)
        said = child.communicate(timeout=60)[1]
        self.assertEqual((child.returncode, self.names()), (1, {"a.cu"}), said)
        self.assertIn("clang was ended by signal 9", said)

    def test_an_ended_objcopy_leaves_nothing(self) -> None:
        """As the real one does, this one writes beside the file that it is to change in place."""
        tools = pathlib.Path(tempfile.mkdtemp(prefix="cc-tools-"))
        self.addCleanup(shutil.rmtree, tools)
        tool = tools / "objcopy"
        tool.write_text('#!/bin/sh\nfor last; do :; done\n: > "$(dirname "$last")/st1"\nexit 1\n')
        tool.chmod(0o755)
        self.write("a.cu", KERNEL)
        path = f"{tools}:{os.environ['PATH']}"
        done = cc("-c", "-DVALUE=1", "a.cu", folder=self.folder, PATH=path)
        self.assertEqual((done.returncode, self.names()), (1, {"a.cu"}), done.stderr)

    def test_whose_parent_ignores_its_children(self) -> None:
        """That is inherited: nobody would be told that a pass has ended."""
        self.write("a.cu", KERNEL)
        done = subprocess.run(
            [CC, "-c", "-DVALUE=1", "a.cu"],
            cwd=self.folder,
            env=dict(os.environ, TMPDIR=str(self.folder)),
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
            timeout=60,
        )
        self.assertEqual((done.returncode, self.names()), (0, {"a.cu", "a.o"}))

    def end_of(self, plant: str, end: int | None = None) -> tuple[int, str]:
        """How vgpu-cc ends where LLVM fails, and what it says; nothing goes on after it."""
        said = self.folder / "said"
        with said.open("w") as errors:
            child = subprocess.Popen(
                [CC, "-c", "-DVALUE=1", "a.cu"],
                cwd=self.folder,
                env=dict(
                    os.environ,
                    TMPDIR=str(self.folder),
                    LD_PRELOAD=str(self.folder / "plant.so"),
                    PLANT=plant,
                ),
                stderr=errors,
                start_new_session=True,
            )
        if end is not None:
            time.sleep(1)
            child.send_signal(end)
        status = child.wait(timeout=60)
        for _ in range(100):
            try:
                os.killpg(child.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            os.killpg(child.pid, signal.SIGKILL)
            self.fail(f"{plant}: a process of vgpu-cc goes on without it")
        if end is None:
            self.assertEqual(self.names(), {"a.cu", "plant.c", "plant.so", "said"}, plant)
        return status, said.read_text()

    def test_llvm_fails(self) -> None:
        """By an abort, a crash, or the process's end: what else runs is ended, and it is said."""
        self.write("a.cu", KERNEL)
        self.write("plant.c", PLANT)
        run(["gcc", "-shared", "-fPIC", "-w", "-o", "plant.so", "plant.c", "-ldl"], self.folder)
        for plant, end, sentence in (
            ("LLVMRunPasses:abort", -signal.SIGABRT, "LLVM has failed"),
            ("LLVMRunPasses:crash", -signal.SIGSEGV, "LLVM has failed"),
            ("LLVMRunPasses:exit", 1, ""),
            ("LLVMTargetMachineEmitToFile:abort", 1, "LLVM cannot compile the device code of 'a"),
            ("LLVMTargetMachineEmitToFile:crash", 1, "LLVM cannot compile the device code of 'a"),
            ("LLVMTargetMachineEmitToFile:exit", 1, "LLVM cannot compile the device code of 'a"),
        ):
            with self.subTest(plant=plant):
                status, said = self.end_of(plant)
                self.assertEqual(status, end, said)
                self.assertIn(sentence, said)

    def test_killed_while_llvm_works(self) -> None:
        self.write("a.cu", KERNEL)
        self.write("plant.c", PLANT)
        run(["gcc", "-shared", "-fPIC", "-w", "-o", "plant.so", "plant.c", "-ldl"], self.folder)
        for function in ("LLVMRunPasses", "LLVMTargetMachineEmitToFile"):
            for end in (signal.SIGKILL, signal.SIGTERM):
                with self.subTest(function=function, end=end):
                    self.assertEqual(self.end_of(f"{function}:wait", end)[0], -end)


if __name__ == "__main__":
    main()
