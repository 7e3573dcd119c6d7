# SPDX-License-Identifier: MIT
"""What the verifier tells: records, lists, exit statuses, its own errors."""

import json
import subprocess
import unittest

import toy

SOLUTION = toy.BUILD / "tests/runners/solution90-run"
VERIFIER = toy.BUILD / "tests/bin/lab90-check"


def verifier(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(VERIFIER), *words], capture_output=True, text=True, check=False)


class Reports(unittest.TestCase):
    def test_list(self) -> None:
        lines = verifier("--list").stdout.splitlines()
        self.assertEqual(lines[0], "one\t1\t10\tquick\ta number is doubled")
        cases = json.loads(verifier("--list-json").stdout)
        self.assertEqual([c["case"] for c in cases], ["one", "all", "sums", "whole"])
        self.assertEqual(sum(c["points"] for c in cases), 40)

    def test_wrong_use(self) -> None:
        for words in ([], ["--nonsense"], ["--runner", "x", "y"], ["--runner", "x", "--seed", "q"]):
            self.assertEqual(verifier(*words).returncode, 2, words)
        got = verifier("--runner", str(SOLUTION), "--case", "none")
        self.assertEqual(got.returncode, toy.BROKEN)
        self.assertIn("has no case 'none'", got.stderr)

    def test_no_runner(self) -> None:
        got = toy.check(toy.WORK / "missing", "all")
        self.assertEqual(got.status, toy.BROKEN)
        self.assertIn("cannot start the runner", got.text)

    def test_whole_lab(self) -> None:
        lines, results = toy.WORK / "whole.jsonl", toy.WORK / "results"
        got = verifier("--runner", str(SOLUTION), "--json", str(lines), "--results", str(results))
        self.assertEqual(got.returncode, toy.PASS, got.stdout)
        records = [json.loads(line) for line in lines.read_text().splitlines()]
        self.assertEqual([r["case"] for r in records], ["one", "all", "sums", "whole"])
        self.assertEqual(records[0]["test"], "lab90.one")
        self.assertEqual(json.loads((results / "lab90.sums.json").read_text())["points"], 5)
        self.assertEqual(len(list(results.iterdir())), 4)

    def test_first_failure_only(self) -> None:
        source = toy.with_body("toy_double", "*result = 2 * x + 1;\nreturn 0;")
        runner = str(toy.build("odd", source))
        got = verifier("--runner", runner, "--as", "odd", "--source", str(toy.SOLUTION))
        self.assertEqual(got.returncode, toy.FAIL)
        self.assertEqual(got.stdout.count("  what "), 1)
        self.assertEqual(got.stdout.count("fail  odd."), 3)
        self.assertIn("where  TODO(1) at", got.stdout)
        self.assertIn("toy.c:11", got.stdout)
        self.assertEqual(verifier("--runner", runner, "--all").stdout.count("  what "), 3)

    def test_seed(self) -> None:
        source = toy.with_body("toy_double", "*result = x;\nreturn 0;")
        runner = toy.build("seed", source)
        texts = [toy.check(runner, "one", "--seed", n).text for n in (5, 5, 6)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_record(self) -> None:
        body = 'puts("\\"a\\\\b\\"\\t\\x01");\n*result = 0;\nreturn 0;'
        source = toy.with_body("toy_double", body, "#include <stdio.h>")
        got = toy.check(toy.build("quotes", source), "one", "--source", toy.SOLUTION)
        record = got.record
        self.assertEqual(record["said"], '"a\\b"\t?')
        self.assertEqual((record["todo"], record["points"], record["status"]), (1, 10, 1))
        self.assertTrue(str(record["where"]).endswith("solutions/90-toy/toy.c:11"))
        self.assertTrue(str(record["check"]).startswith("public.c:"))
        self.assertEqual(record["nodes"], [])

    def test_a_finding_is_said_once(self) -> None:
        """The first of its kind, in "found"; "said" has what else was printed, in whole lines."""
        finding = (
            "vgpu: call: finding: a race on GPU %s\\n      two lines [kernels.a-race; explain]\\n"
        )
        lines = [finding % 0, "own line\\n", finding % 1, "x" * 600 + "\\n", "last line\\n"]
        printed = "".join(f'fputs("{line}", stderr);\n' for line in lines)
        source = toy.with_body(
            "toy_double", printed + "*result = 0;\nreturn 0;", "#include <stdio.h>"
        )
        got = toy.check(toy.build("finding", source), "one", "--source", toy.SOLUTION)
        self.assertEqual(got.text.count("kernels.a-race"), 1, got.text)
        self.assertIn("found  a race on GPU 0\n               two lines", got.text)
        self.assertIn("said   | last line\n", got.text)
        self.assertIn("a race on GPU 0", str(got.record["explained"]))
        self.assertEqual(got.record["said"], "last line")

    def test_the_tests_are_not_named(self) -> None:
        """Where they allocate, which program and process another one is; what the runtime says of
        two calls stands once; the order of a test that a call fails does not."""
        lines = [
            "vgpu: free: 0x10: released too often\\n",
            "vgpu: free: 0x20: released too often\\n",
            "vgpu: copy: this call fails because VGPU_FAULT says so\\n",
            "vgpu: call: finding: 9 bytes (allocated at runner.c:9) of GPU 0, 8 bytes "
            "(allocated at own.c:8), in process 4711 (own-run) at own.c:3 [order.one; explain]\\n",
        ]
        printed = "".join(f'fputs("{line}", stderr);\n' for line in lines)
        source = toy.with_body(
            "toy_double", printed + "*result = 0;\nreturn 0;", "#include <stdio.h>"
        )
        got = toy.check(toy.build("own", source), "one", "--source", toy.WORK / "own.c")
        self.assertIn("said   | vgpu: free: 0x10: released too often\n", got.text)
        self.assertNotIn("0x20", got.text)
        self.assertNotIn("VGPU_FAULT", got.text)
        self.assertIn(
            "found  9 bytes of GPU 0, 8 bytes (allocated at own.c:8), of another process at own.c",
            got.text,
        )

    def test_findings_are_ranked(self) -> None:
        """Two lines of the learner's file, then one, then none; the test's own calls never."""
        both = "ranked.c:41 and ranked.c:42"
        ends = ("runner.c:9", "other.c:3 and ranked.c:31", both, "other.c:5")
        codes = ("api.unchecked", "order.one", "order.both", "order.none")
        printed = "".join(
            f'fputs("vgpu: call: finding: it is at {end} [{code}; explain]\\n", stderr);\n'
            for end, code in zip(ends, codes, strict=True)
        )
        top = "#include <stdio.h>"
        source = toy.with_body("toy_double", printed + "*result = 0;\nreturn 0;", top)
        got = toy.check(toy.build("ranked", source), "one", "--source", toy.WORK / "ranked.c")
        self.assertIn("found  it is at ranked.c:41 and ranked.c:42 [order.both; explain]", got.text)
        self.assertIn("and others: [order.one] [order.none]\n", got.text)
        self.assertNotIn("api.unchecked", got.text)
        self.assertNotIn("said ", got.text)
        self.assertIn("ranked.c:41\n", got.text.split("where ")[1])

    def test_cannot_run(self) -> None:
        got = toy.check(SOLUTION, "skip", hidden=True)
        self.assertEqual(got.status, toy.SKIPPED)
        self.assertIn("this needs 2 moons", got.text)

    def test_own_errors(self) -> None:
        for case, phrase in (
            ("crash", "the test's own code was ended by signal"),
            ("greedy", "'greedy': the adapter writes more output bytes"),
            ("unknown", "'unknown': the runner does not know"),
        ):
            got = toy.check(SOLUTION, case, hidden=True)
            self.assertEqual(got.status, toy.BROKEN, case)
            self.assertIn(phrase, got.text)
            self.assertIn("not your fault", got.text)

    def test_case_variables(self) -> None:
        body = 'int b = atoi(getenv("TOY_BONUS"));\nprintf("bonus %d\\n", b);\n*result = 2 * x + b;'
        source = toy.with_body(
            "toy_double", body + "\nreturn 0;", "#include <stdio.h>\n#include <stdlib.h>"
        )
        got = toy.check(toy.build("bonus", source), "env", hidden=True)
        self.assertEqual(got.status, toy.PASS, got.text)

    def test_quoted_output_is_harmless(self) -> None:
        body = 'puts("not written yet \\033[2J");\n*result = 11;\nreturn 0;'
        source = toy.with_body("toy_double", body, "#include <stdio.h>")
        got = toy.check(toy.build("quoted", source), "env", hidden=True)
        self.assertEqual(got.status, toy.FAIL)
        self.assertIn("printed '?ot written yet ?[2J", got.text)

    def test_comparisons(self) -> None:
        got = toy.check(SOLUTION, "close", hidden=True)
        self.assertIn("not a number: got", got.text)
        self.assertEqual(got.status, toy.FAIL)
        got = toy.check(SOLUTION, "bytes", hidden=True)
        self.assertIn("chunk of rank 2: 6 of 8", got.text)
        self.assertIn("byte 5: got 0x66, expected 0x46", got.text)
        self.assertNotIn("byte 6: got", got.text)

    def test_color(self) -> None:
        words = ["--runner", str(SOLUTION), "--case", "one", "--color"]
        self.assertIn("\033[32m", verifier(*words, "always").stdout)
        self.assertNotIn("\033", verifier(*words, "never").stdout)


if __name__ == "__main__":
    unittest.main()
