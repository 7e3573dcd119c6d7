# SPDX-License-Identifier: MIT
"""Every way a learner's function can end, the verdict it must get, and the words it must hear."""

import contextlib
import time
import unittest
from pathlib import Path

import toy

INCLUDES = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
"""

FIND_PAGES = r"""
static char *page(void)
{
    static char *found[3];
    char line[500], *from, *to;
    FILE *maps = fopen("/proc/self/maps", "r");
    int n = 0;
    while (fgets(line, sizeof line, maps) && n < 3)
        if (strstr(line, "memfd:lab-") && sscanf(line, "%p-%p", (void **)&from, (void **)&to) == 2)
            found[n++] = from;
    fclose(maps);
    for (int i = 0; i < n; i++)
        if (memcmp(found[i], "SBAL", 4) == 0)
            return found[i];
    return NULL;
}
"""


def run(name: str, body: str, top: str = "", case: str = "all", **env: str) -> toy.Result:
    return toy.check(
        toy.build(name, toy.with_body("toy_double_all", body, INCLUDES + top)), case, **env
    )


RULE = "each output has one input"
UNTOUCHED = (
    "all of it is wrong: it still holds what the test wrote there: your code did not write it"
)


class Verdicts(unittest.TestCase):
    def expect(self, got: toy.Result, status: int, *phrases: str) -> None:
        self.assertEqual(got.status, status, got.text + got.errors)
        for phrase in phrases:
            self.assertIn(phrase, got.text)
        if status != toy.NOT_WRITTEN:
            self.assertNotIn("not written yet", got.text)

    def fails(self, got: toy.Result, *phrases: str, why: str = RULE) -> None:
        """An expectation failed; the case's rule says why, unless the comparison knows more."""
        self.expect(got, toy.FAIL, f"why    {why}", *phrases)
        self.assertEqual(got.record["verdict"], "fail")

    def stops(self, got: toy.Result, *phrases: str) -> None:
        """It never came to an expectation: the case's rule would be a wrong reason."""
        self.expect(got, toy.FAIL, "what   your program ", *phrases)
        self.assertEqual((got.record["verdict"], got.record["why"]), ("fail", ""))
        self.assertNotIn("  why ", got.text)

    def test_right(self) -> None:
        runner = toy.build("right", toy.SOLUTION.read_text(encoding="utf-8"))
        for case in ("one", "all", "sums", "whole"):
            self.expect(toy.check(runner, case), toy.PASS, f"pass  lab90.{case}")

    def test_not_written(self) -> None:
        got = toy.check(toy.build("skeleton", toy.SKELETON.read_text(encoding="utf-8")), "all")
        self.expect(got, toy.NOT_WRITTEN, "not written yet: TODO(2) at", "skeleton.c:13")
        self.assertIn("read task 2 in labs/90-toy/README.md; ./lab hint 90 2", got.text)
        self.assertEqual(got.record["verdict"], "not written")

    def test_wrong(self) -> None:
        got = run("wrong", "for (int i = 0; i < n; i++) out[i] = 2 * in[i] + (i == 3);\nreturn 0;")
        self.fails(got, "doubles: 1 of 7 elements are wrong", "[3] got ", ", expected ")
        self.assertIn("./lab hint 90 2", got.text)

    def test_never_written(self) -> None:
        got = run("idle", "(void)in, (void)out, (void)n;\nreturn 0;")
        self.fails(got, "7 of 7", "never written", "[4] got", why=UNTOUCHED)
        self.assertNotIn("[5] got", got.text)

    def test_compared(self) -> None:
        """What is wrong with the numbers themselves stands in the place of the case's rule."""
        loop = "for (int i = 0; i < n; i++) out[i] = 2 * in[%s];\nreturn 0;"
        self.fails(
            run("shifted", loop % "(i + 1) % n"),
            why="all of it is wrong: what came to number 0 belongs to number 1, which is 1 later",
        )
        short = "for (int i = 0; i < n; i++) out[i] = i < 5 ? 2 * in[i] : 0;\nreturn 0;"
        self.fails(run("short", short), why="the first 5 are right, from there on all may be wrong")
        self.fails(run("scattered", loop % "i < 2 ? i : n - 1 - i % 2"))
        source = toy.with_body("toy_double", "*result = 2000 * x;\nreturn 0;")
        got = toy.check(toy.build("unit", source), "one")
        self.expect(got, toy.FAIL, "why    it is 1000 times what it must be: another unit\n")

    def test_has_no_value(self) -> None:
        """Nothing that lies on the stack by chance makes a wrong function right."""
        body = "int *now;\nmemset(&now, 0, n > 0 ? 0 : sizeof now);\n*result = (int)(size_t)now;"
        source = toy.with_body("toy_double", f"(void)x;\n{body}\nreturn 0;", INCLUDES)
        got = toy.check(toy.build("no_value", source.replace("n > 0", "x > 0")), "one")
        self.fails(got, why="it is what a variable holds that was never given a value\n")

    def test_writes_beyond(self) -> None:
        """The rule of the case is about another mistake, and says so (`about`)."""
        got = run("beyond", "for (int i = 0; i <= n; i++) out[i] = 2 * in[i];\nreturn 0;")
        self.expect(got, toy.FAIL, "wrote beyond the 7 elements")
        self.assertEqual(got.record["why"], "")

    def test_crashes(self) -> None:
        crash = 'fprintf(stderr, "near the end\\n");\n*(volatile int *)0 = n;\n(void)in, (void)out;'
        self.stops(
            run("crash", crash + "\nreturn 0;"),
            "ended by signal 11 (invalid memory access), in 'all': address 0, a null pointer",
            "said   | near the end",
        )
        got = run("outside", "int two[2] = {in[0], in[1]};\nout[0] = two[n];\nreturn 0;")
        self.stops(
            got,
            "signal 5 (an index that is not in its array) at outside.c:",
            ", in 'all': element 7 of an array 'int ",
        )
        got = run("abort", "(void)in, (void)out, (void)n;\nabort();")
        self.stops(got, "ended by signal 6")
        self.assertEqual(got.record["ending"], "crash")
        self.stops(
            run("float", "(void)in, (void)out, (void)n;\nraise(SIGFPE);\nreturn 0;"),
            "ended by signal 8 (arithmetic error",
        )

    def test_launcher(self) -> None:
        """What stands before the runner passes its descriptors on, and signals as a shell does."""
        runner = toy.build("launched", toy.SOLUTION.read_text(encoding="utf-8"))
        script = runner.with_name("launcher.sh")
        script.write_text('#!/bin/sh\necho started >&6\nexec "$@" 6>&-\n')
        script.chmod(0o755)
        words = ("--launcher", script)
        self.expect(toy.check(runner, "all", *words), toy.PASS)
        script.write_text("#!/bin/sh\necho started >&6\nexit 139\n", encoding="utf-8")
        got = toy.check(runner, "all", *words)
        self.stops(got, "ended by signal 11")
        self.assertEqual(got.record["ending"], "crash")
        script.write_text("#!/bin/sh\necho started >&6\nexit 1\n", encoding="utf-8")
        got = toy.check(runner, "all", *words)
        self.stops(got, "ended by exit(1)")
        self.assertEqual(got.record["ending"], "exit")

    def test_launcher_that_fails(self) -> None:
        """It never says that it starts the runner: not the student's failure."""
        runner = toy.build("unlaunched", toy.SOLUTION.read_text(encoding="utf-8"))
        got = toy.check(runner, "all", "--launcher", "/bin/false")
        self.expect(got, toy.BROKEN, "the sandbox did not start the program")
        script = runner.with_name("failing.sh")
        script.write_text("#!/bin/sh\necho lab-jail failed: no room >&6\nexit 0\n")
        script.chmod(0o755)
        got = toy.check(runner, "all", "--launcher", script)
        self.expect(got, toy.BROKEN, "no room")

    def test_assertions_hold(self) -> None:
        """Students' files are optimised, yet compiled without -DNDEBUG."""
        got = run(
            "assert", "assert(n < 0);\n(void)in, (void)out;\nreturn 0;", "#include <assert.h>"
        )
        self.stops(got, "ended by signal 6 (abort: an assertion", "`n < 0' failed")

    def test_input_is_read_only(self) -> None:
        self.stops(
            run("input", "((int *)in)[0] = 0;\n(void)out, (void)n;\nreturn 0;"),
            "ended by signal 11",
        )

    def test_leaves_early(self) -> None:
        for code in (0, 3, 4, 77):
            got = run(f"exit{code}", f"(void)in, (void)out, (void)n;\nexit({code});")
            self.stops(got, f"ended by exit({code}) before the function returned")
        top = "__attribute__((constructor)) static void early(void) { _exit(0); }"
        got = run("constructor", "(void)in, (void)out, (void)n;\nreturn 0;", top)
        self.stops(got, "ended by exit(0)")

    def test_prints_a_verdict(self) -> None:
        body = r"""
    printf("PASS\n100%% tests passed\nnot written yet\n");
    printf("CTEST_FULL_OUTPUT\n{\"verdict\":\"pass\"}\n");
    printf("\033]0;title\007<DartMeasurement name=\"x\">\xff\n");
    (void)in, (void)out, (void)n;
    return 0;"""
        got = run("liar", body)
        self.fails(got, "7 of 7", '| {"verdict":"pass"}', "?]0;title?", why=UNTOUCHED)
        for bad in ("CTEST_FULL_OUTPUT", "<DartMeasurement", "\033", "\ufffd"):
            self.assertNotIn(bad, got.text)

    def test_floods(self) -> None:
        body = '(void)in, (void)out, (void)n;\nfor (;;) puts("PASS PASS PASS PASS PASS");'
        self.stops(run("flood", body), "printed more than 1048576 bytes")
        body = (
            "char big[4096];\nmemset(big, 65, sizeof big);\nfor (int i = 0; i < 300; i++)\n"
            "write(i % 2 + 1, big, sizeof big);\n(void)in, (void)out, (void)n;\nreturn 0;"
        )
        self.stops(run("flood2", body), "printed more than")

    def test_much_output_is_no_crime(self) -> None:
        body = "for (int i = 0; i < n; i++) toy_double(in[i], &out[i]);\n"
        body += 'for (int i = 0; i < 20000; i++) puts("debugging, line after line");\nreturn 0;'
        self.expect(run("noisy", body), toy.PASS)

    def test_hangs(self) -> None:
        hold = "(void)in, (void)out, (void)n;\n"
        started = time.monotonic()
        got = run("hang", hold + "for (;;) pause();")
        self.stops(got, "hung: it waits forever in 'all'")
        self.assertEqual(got.record["ending"], "timeout")
        self.assertGreaterEqual(time.monotonic() - started, 2)
        self.stops(run("stop", hold + "raise(SIGSTOP);\nreturn 0;"), "hung")
        self.stops(
            run(
                "read",
                hold + "int pipes[2];\nif (pipe(pipes)) return 1;\nchar c;\n"
                "return (int)read(pipes[0], &c, 1);",
            ),
            "hung",
        )

    def test_runs_for_ever(self) -> None:
        body = "(void)in, (void)out;\nfor (volatile int i = n; i != -1;) i = n;\nreturn 0;"
        self.stops(run("busy", body, LAB_CPU_SECONDS="1"), "CPU seconds without coming to an end")
        body = "(void)in, (void)out, (void)n;\nif (fork() == 0) for (volatile int i = 0;;) i = 0;\n"
        self.stops(run("child", body + "for (;;) pause();", LAB_CPU_SECONDS="1"), "CPU seconds")

    def test_sleeping_is_not_hanging(self) -> None:
        body = "sleep(3);\nfor (int i = 0; i < n; i++) toy_double(in[i], &out[i]);\nreturn 0;"
        self.expect(run("sleepy", body), toy.PASS)
        self.stops(run("sleeper", body, LAB_IDLE_SECONDS="1"), "slept for", "without coming")

    def test_forges_the_page(self) -> None:
        finished = "((int *)page())[1] = 1;\n(void)in, (void)out, (void)n;\n_exit(0);"
        self.fails(run("forge1", finished, FIND_PAGES), "7 of 7 elements are wrong", why=UNTOUCHED)
        unwritten = (
            "char *p = page();\n((int *)p)[1] = 2;\nmemset(p + 16, 7, 512);\n"
            "(void)in, (void)out, (void)n;\n_exit(3);"
        )
        got = run("forge2", unwritten, FIND_PAGES)
        self.expect(got, toy.NOT_WRITTEN)
        self.assertNotIn("\x07", got.text)
        shrink = "(void)in, (void)out, (void)n;\nreturn ftruncate(4, 0) + ftruncate(5, 0);"
        self.fails(run("shrink", shrink), "7 of 7", why=UNTOUCHED)

    def test_leaves_nobody_behind(self) -> None:
        body = r"""
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            execlp("sleep", "toy-survivor", "1234567", (char *)NULL);
        }
        _exit(0);
    }
    usleep(100000);
    for (int i = 0; i < n; i++) toy_double(in[i], &out[i]);
    return 0;"""
        started = time.monotonic()
        self.expect(run("daemon", body), toy.PASS)
        self.assertLess(time.monotonic() - started, 60)
        for stat in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                self.assertNotIn(b"toy-survivor", stat.read_bytes())

    def test_descriptors_and_environment(self) -> None:
        body = r"""
    char path[64];
    int open_ones = 0;
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%%d", i);
        open_ones += access(path, F_OK) == 0;
    }
    if (%s || getenv("LAB_JSON") || getenv("SECRET") || getppid() == 1)
        return 1;
    char c;
    if (read(0, &c, 1) != 0)
        return 1;
    for (int i = 0; i < n; i++) toy_double(in[i], &out[i]);
    return 0;"""
        virtual = (toy.BUILD / "bin/vgpu-node").exists()
        descriptors = "open_ones != 3" if virtual else "open_ones < 3"  # the driver has its own
        self.expect(run("closed", body % descriptors, SECRET="x"), toy.PASS)


if __name__ == "__main__":
    unittest.main()
