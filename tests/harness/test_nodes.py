# SPDX-License-Identifier: MIT
"""The verifier and the node: shapes, the witness, leaks, faults, parallel tests, nothing left."""

import os
import re
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from toy import BROKEN, BUILD, FAIL, GPU, PASS, Result

SOLUTION = BUILD / "tests/runners/solution91-run"
INCLUDES = "#include <pthread.h>\n#include <unistd.h>"


def variant(name: str, body: str, case: str = "seen", **env: str) -> Result:
    source = GPU.with_body("gpu_relay", body + "\nreturn LAB_OK;", INCLUDES)
    return GPU.check(GPU.build(name, source), case, **env)


def kernel(name: str, body: str, **env: str) -> Result:
    """A learner who starts a kernel with this body and waits for it."""
    top = f"__global__ void work(volatile int *flag)\n{{\n{body}\n}}\n"
    host = """
    int *flag;
    (void)bytes;
    cudaGetDeviceCount(gpus);
    cudaMalloc((void **)&flag, 4);
    cudaMemset(flag, 0, 4);
    work<<<1, 32>>>(flag);
    return cudaDeviceSynchronize() == cudaSuccess ? LAB_OK : LAB_ECUDA;"""
    source = GPU.with_body("gpu_relay", host).replace("\nint gpu", f"\n{top}\nint gpu", 1)
    return GPU.check(
        GPU.build(name, source.replace("#define _GNU_SOURCE", ""), ".cu"), "seen", **env
    )


def nodes_of(pid: int) -> list[str]:
    """Node processes that the verifier `pid` started."""
    got = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return re.findall(rf"vgpu-node --id lab-{pid}-\S+", got.stdout)


class Nodes(unittest.TestCase):
    def test_solution(self) -> None:
        for case in ("shapes", "seen"):
            got = GPU.check(SOLUTION, case)
            self.assertEqual(got.status, PASS, got.text)
        self.assertEqual(got.record["nodes"], ["hgx-h200-4", "dgx-h100"])
        self.assertGreater(int(str(got.record["virtual_ps"])), 0)

    def test_times_of_the_operating_system(self) -> None:
        got = GPU.check(SOLUTION, "unsteady")
        self.assertEqual(got.status, PASS, got.text)
        for text in (got.text, str(got.record["explained"])):
            self.assertIn(
                "times of this program depend on the operating system: 1 operations", text
            )
            self.assertIn("another host thread had waited", text)
        self.assertEqual(GPU.check(SOLUTION, "seen").record["explained"], "")

    def test_unknown_node(self) -> None:
        got = GPU.check(SOLUTION, "unknown")
        self.assertEqual(got.status, BROKEN)
        self.assertIn("cannot start a node 'no-such-node'", got.text)

    def test_missing_node_program(self) -> None:
        got = GPU.check(SOLUTION, "seen", VGPU_HOME="/nowhere")
        self.assertEqual(got.status, BROKEN)
        self.assertIn("/nowhere/bin/vgpu-node", got.text)

    def test_leaks(self) -> None:
        good = GPU.solution().split("\nint gpu_relay(int bytes, int *gpus)\n{\n")[1]
        good = good.split("    return rc;")[0]
        for name, line, phrase in (
            ("leak1", "    cudaFree(from);\n", "1 allocation"),
            ("leak2", "    cudaFreeHost(host);\n", "1 pinned host allocation"),
        ):
            self.assertIn(line, good)
            got = variant(name, good.replace(line, "") + "\n(void)rc;")
            self.assertEqual(got.status, FAIL, got.text)
            self.assertIn(f"left behind when the program ended: {phrase}", got.text)
        more = """
    cudaStream_t s; cudaEvent_t e;
    cudaStreamCreate(&s); cudaEventCreate(&e); cudaDeviceEnablePeerAccess(0, 0);
    (void)rc;"""
        got = variant("leak3", good + more)
        self.assertIn("1 stream, 1 event, 1 enabled peer", got.text)

    def test_host_touches_device_memory(self) -> None:
        body = """
    char *p;
    (void)bytes; *gpus = 4;
    cudaMalloc((void **)&p, 64);
    *p = 1;"""
        got = variant("touch", body)
        self.assertEqual(got.status, FAIL)
        self.assertIn("ended by signal 11 (invalid memory access) at touch.c:", got.text)
        self.assertIn("memory of GPU 0 (byte 0 of an allocation of 64 bytes", got.text)

    def test_a_crash_names_its_line_and_what_the_address_is_near_to(self) -> None:
        """Also where the runtime has a handler of its own already, and in what was forked."""
        start = "cudaGetDeviceCount(gpus);\n(void)bytes;\n"
        for name, crash, near in (
            ("null", "*(volatile int *)0 = 1;", "address 0, a null pointer"),
            ("small", "*(volatile int *)0x1234 = 1;", "0x1234, near to no memory of the program"),
            ("wild", "*(volatile int *)0x1234567812345678 = 1;", "was the pointer ever set?"),
            ("read-only", '*(volatile char *)"text" = 1;', "which may not be used so"),
            (
                "endless",
                "volatile char a[4096]; a[0] = 1; return gpu_relay(bytes, gpus) + a[0];",
                "a recursion without an end?",
            ),
            ("divided", "volatile int none = 0; *gpus /= none;", "signal 8 (arithmetic error"),
            ("forked", "if (fork() == 0) *(volatile int *)0 = 1;\npause();", "a null pointer"),
        ):
            with self.subTest(name):
                source = GPU.with_body("gpu_relay", f"{start}{crash}\nreturn LAB_OK;", INCLUDES)
                runner = GPU.build(f"crash-{name}", source)
                file = runner.with_suffix(".c")
                got = GPU.check(runner, "seen", "--source", file)
                line = source[: source.index(crash)].count("\n") + 1
                self.assertEqual(got.status, FAIL, got.text)
                self.assertIn(near, got.text)
                if name != "endless":  # the frame that overflows is entered at another line
                    self.assertRegex(got.text, rf"signal \d+ \(.*\) at {file.name}:{line}")
                    self.assertRegex(got.text, rf"where  TODO\(1\) at .*/{file.name}:{line}\n")

    def test_where_is_the_line_of_a_kernels_fault(self) -> None:
        top = "__global__ void work(int *at)\n{\n    *at = 1;\n}\n"
        host = "(void)bytes; *gpus = 4;\nwork<<<1, 1>>>(NULL);\nreturn cudaDeviceSynchronize();"
        source = GPU.with_body("gpu_relay", host).replace("\nint gpu", f"\n{top}\nint gpu", 1)
        source = source.replace("#define _GNU_SOURCE", "")
        runner = GPU.build("faulty-kernel", source, ".cu")
        got = GPU.check(runner, "seen", "--source", runner.with_suffix(".cu"))
        line = source[: source.index("*at = 1")].count("\n") + 1
        self.assertRegex(got.text, rf"where  TODO\(1\) at .*/faulty-kernel.cu:{line}\n")
        self.assertNotIn("why ", got.text)

    def test_a_finding_is_of_the_run_that_had_it(self) -> None:
        """The first of two runs has a race: it is told where that fails the case, as one of the
        usual machine, and not where the second run is wrong."""
        race = """
    cudaStream_t a, b;
    void *at;
    *gpus = 4;
    cudaMalloc(&at, 64);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMemsetAsync(at, 1, 64, a);
    if (bytes == 1)
        cudaMemsetAsync(at, 1, 64, b);
    return cudaDeviceSynchronize();"""
        runner = GPU.build("two-runs", GPU.with_body("gpu_relay", race))
        file = runner.with_suffix(".c")
        got = GPU.check(runner, "two_runs", "--source", file, VGPU_CHECK="order")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("the results are right, but by luck", got.text)
        self.assertIn("found  cudaMemsetAsync", got.text)
        self.assertNotIn("on another machine", got.text)
        got = GPU.check(runner, "second_run", "--source", file, VGPU_CHECK="order")
        self.assertIn("the second run gave 2, expected 3", got.text)
        self.assertNotIn("order.streams", got.text)

    def test_what_the_tests_ask_themselves_is_not_printed(self) -> None:
        got = GPU.check(SOLUTION, "asks")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertNotIn("cudaSetDevice", got.text)
        self.assertIn("refused as it must be", got.text)
        got = variant("refused", "(void)bytes;\nreturn cudaSetDevice(99) + (*gpus = 4);")
        self.assertIn("said   | vgpu: cudaSetDevice: ", got.text)

    def test_a_leak_is_a_grave_mistake_where_nothing_was_refused(self) -> None:
        got = variant(
            "leak-grave", "(void)bytes; *gpus = 4;\ncudaMalloc((void **)&gpus, 64);", "leaves"
        )
        self.assertEqual((got.status, got.record["grave"]), (FAIL, "leak"), got.text)
        self.assertIn("each kind of object has one call that frees it", got.text)
        got = variant(
            "leak-refused", "(void)bytes; *gpus = 4;\ncudaMalloc((void **)&gpus, 64);", "refuses"
        )
        self.assertEqual((got.status, got.record["grave"]), (FAIL, ""), got.text)

    def test_hang_with_a_node(self) -> None:
        body = "(void)bytes;\ncudaGetDeviceCount(gpus);\ncudaFree(0);\nfor (;;) pause();"
        got = variant("hang", body)
        self.assertEqual(got.status, FAIL)
        self.assertIn("hung: it waits forever", got.text)

    def test_asking_for_ever(self) -> None:
        body = """
    cudaStream_t s;
    (void)bytes, (void)gpus;
    cudaStreamCreate(&s);
    for (;;) cudaStreamQuery(s);"""
        got = variant("asking", body, LAB_CPU_SECONDS="1")
        self.assertEqual(got.status, FAIL)
        self.assertIn("CPU seconds without coming to an end", got.text)

    def test_the_node_works_for_ever(self) -> None:
        """The program itself hardly runs: what the node does for it counts, too."""
        body = """
    char *p;
    (void)bytes, (void)gpus;
    cudaMalloc((void **)&p, 1 << 28);
    for (;;) cudaMemset(p, 1, 1 << 28), cudaDeviceSynchronize();"""
        got = variant("working", body, LAB_CPU_SECONDS="0.5")
        self.assertEqual(got.status, FAIL)
        self.assertIn("your program had not come to an end after 4 s in 'relay'", got.text)
        self.assertRegex(got.text, r"virtual node worked for it for [34] s")

    def test_allocating_for_ever(self) -> None:
        body = """
    void *p;
    (void)bytes, (void)gpus;
    for (;;) cudaMalloc(&p, 512);"""
        got = variant("allocating", body, LAB_CPU_SECONDS="0.5")
        self.assertEqual(got.status, FAIL)
        self.assertRegex(got.text, "CPU seconds without coming to an end|had not come to an end")

    def test_making_events_for_ever(self) -> None:
        body = """
    cudaEvent_t e;
    (void)bytes, (void)gpus;
    for (;;) cudaEventCreate(&e);"""
        got = variant("events", body, LAB_CPU_SECONDS="0.5")
        self.assertEqual(got.status, FAIL)
        self.assertRegex(got.text, "CPU seconds without coming to an end|had not come to an end")

    def test_kernels_without_end(self) -> None:
        """A kernel that only computes, and one that waits for what nobody writes."""
        got = kernel(
            "spin", "    for (int i = 0; i != 1; i ^= 2) flag[1 - i % 1] = i;", LAB_CPU_SECONDS="2"
        )
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("CPU seconds without coming to an end", got.text)
        got = kernel("waits", "    while (*flag == 0) { }")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("deadlock: every host thread waits", got.text)

    def test_fault_is_explained(self) -> None:
        got = kernel("fault", "    *(volatile int *)8 = 1;")
        self.assertEqual(got.status, FAIL)
        self.assertIn("wrote to 0x8", got.text)
        self.assertIn("wrote to 0x8", str(got.record["explained"]))

    def test_parallel(self) -> None:
        """Tests beside each other see their own nodes only: same counts, same times."""
        with ThreadPoolExecutor(4) as pool:
            todo = [("seen", "shapes")[i % 2] for i in range(12)]
            links = []
            for i in range(12):
                link = BUILD / f"labs/relay-{os.getpid()}-{i}"
                link.symlink_to(SOLUTION)
                links.append(link)
            try:
                got = list(pool.map(GPU.check, links, todo))
            finally:
                for link in links:
                    link.unlink()
        self.assertEqual({r.status for r in got}, {PASS})
        self.assertEqual(len({r.record["virtual_ps"] for r in got[::2]}), 1)

    def test_nothing_is_left(self) -> None:
        command = [BUILD / "tests/bin/lab91-check", "--runner", SOLUTION, "--case", "shapes"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as verifier:
            self.assertEqual(verifier.wait(timeout=100), PASS)
        runtime = os.environ.get("XDG_RUNTIME_DIR")
        folder = Path(runtime) / "vgpu" if runtime else Path(f"/tmp/vgpu-{os.getuid()}")
        self.assertEqual(nodes_of(verifier.pid), [])
        self.assertEqual(list(folder.glob(f"lab-{verifier.pid}-*")), [])

    def test_killed_verifier(self) -> None:
        """A verifier that is killed takes its runner with it, and the node goes on its own."""
        body = "(void)bytes;\ncudaGetDeviceCount(gpus);\nfor (;;) pause();\nreturn LAB_OK;"
        runner = GPU.build("orphan", GPU.with_body("gpu_relay", body, INCLUDES))
        command = [BUILD / "tests/bin/lab91-check", "--runner", runner, "--case", "seen"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as verifier:
            self.wait_for(1, verifier.pid)
            verifier.kill()
        self.wait_for(0, verifier.pid)

    def wait_for(self, count: int, pid: int) -> None:
        deadline = time.monotonic() + 60
        while len(found := nodes_of(pid)) != count and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(len(found), count)


if __name__ == "__main__":
    unittest.main()
