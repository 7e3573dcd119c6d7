# SPDX-License-Identifier: MIT
"""Node descriptions: every one in vgpu/nodes starts, and bad ones are refused by name."""

import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

NODE, SMI, NODES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
DESCRIPTIONS = sorted(path for path in NODES.glob("*.json") if path.name != "schema.json")
RECORDED = pathlib.Path(__file__).parent / "smi"
IDS = itertools.count()  # a node of its own each time: the last one may still be going


def smi(node: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """vgpu-smi on a fresh node of this description."""
    environment = dict(os.environ, VGPU_NODE=node, VGPU_NODE_ID=f"nodes-{os.getpid()}-{next(IDS)}")
    environment.update(more)
    return subprocess.run(
        [SMI, *arguments], env=environment, capture_output=True, text=True, timeout=60
    )


def refuse(text: str) -> str:
    """What vgpu-node says to a description."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "bad.json")
        path.write_text(text)
        (pathlib.Path(folder) / "parts").symlink_to(NODES / "parts")
        environment = dict(os.environ, VGPU_NODE=str(path), VGPU_NODES=str(NODES))
        done = subprocess.run(
            [NODE, "--id", f"bad-{os.getpid()}", "--foreground"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1, done
        return done.stderr


class Descriptions(unittest.TestCase):
    def test_every_description_starts(self) -> None:
        for path in DESCRIPTIONS:
            with self.subTest(path.name):
                gpus = json.loads(path.read_text())["gpus"]
                done = smi(path.stem, "-L")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(
                    len(re.findall(r"^GPU \d+: .* \(UUID: GPU-", done.stdout, re.M)), len(gpus)
                )

    def test_no_such_name_lists_the_names(self) -> None:
        done = smi("nosuch", "-L")
        self.assertNotEqual(done.returncode, 0)
        names = ", ".join(path.stem for path in DESCRIPTIONS)
        self.assertIn("VGPU_NODE=nosuch", done.stderr)
        self.assertIn(names, done.stderr)

    def test_memory_limit_is_a_size(self) -> None:
        for limit in ("2G", "64m", "65536K", "1073741824"):
            done = smi("single", "-L", VGPU_MEMORY_LIMIT=limit)
            self.assertEqual(done.returncode, 0, done.stderr)
        for limit in ("2T", "many", "-1", "0", "1G2", "99999999999G"):
            done = smi("single", "-L", VGPU_MEMORY_LIMIT=limit)
            self.assertIn(f"VGPU_MEMORY_LIMIT={limit} is not a size", done.stderr)

    def test_form_is_a_word(self) -> None:
        for form in ("fast", "careful", ""):
            done = smi("single", "-L", VGPU_FORM=form)
            self.assertEqual(done.returncode, 0, done.stderr)
        for form in ("quick", "fast ", "Careful", "1"):
            done = smi("single", "-L", VGPU_FORM=form)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"VGPU_FORM={form} is not valid: expected fast", done.stderr)

    def test_order_of_threads_is_a_word(self) -> None:
        for order in ("forward", "reverse", "seeded", "seeded:7", ""):
            done = smi("single", "-L", VGPU_LANES=order)
            self.assertEqual(done.returncode, 0, done.stderr)
        for order in ("backward", "seeded:", "seeded:x", "seeded:-1", "Reverse", "reverse "):
            done = smi("single", "-L", VGPU_LANES=order)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"VGPU_LANES={order} is not valid: expected forward", done.stderr)

    def test_workers_are_a_number(self) -> None:
        for workers in ("1", "1024", "always:4", ""):
            done = smi("single", "-L", VGPU_WORKERS=workers)
            self.assertEqual(done.returncode, 0, done.stderr)
        for workers in ("0", "1025", "-1", "always", "always:", "always:0", "4:always", "Always:4"):
            done = smi("single", "-L", VGPU_WORKERS=workers)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"VGPU_WORKERS={workers} is not valid: expected a number", done.stderr)

    def test_a_path_works_too(self) -> None:
        self.assertEqual(smi(str(NODES / "single.json"), "-L").stdout.count("GPU 0"), 1)

    def test_links(self) -> None:
        self.assertEqual(smi("hgx-h200-4", "topo", "-m").stdout.count("NV18"), 12)
        dual = smi("pcie-dual-socket-4", "topo", "-m").stdout
        self.assertEqual((dual.count("PIX") - 1, dual.count("SYS") - 1), (4, 8))
        oneway = smi("oneway-2", "topo", "-p2p", "r").stdout
        self.assertIn("GPU0\tX\tOK", oneway)
        self.assertIn("GPU1\tCNS\tX", oneway)

    def test_as_nvidia_smi_printed(self) -> None:
        path = pathlib.Path(__file__).parent.parent / "recorded/hgx-h200-4/nvidia-smi.txt"
        parts = re.split(r"^\[(.*)\]\n", path.read_text(), flags=re.M)[1:]
        self.assertEqual(len(parts), 6)
        for arguments, printed in zip(parts[::2], parts[1::2], strict=True):
            self.assertEqual(smi("hgx-h200-4", *arguments.split()).stdout, printed, arguments)

    def test_topologies_as_the_real_tool_prints_them(self) -> None:
        """Each file in smi/ holds what nvidia-smi would print on such a machine, but the legend."""
        legend = re.compile(r"\nLegend:\n.*", re.S)
        known = {path.stem for path in RECORDED.glob("*.txt")}
        for name in {path.stem for path in DESCRIPTIONS} ^ known:
            self.fail(
                f"vgpu/nodes/{name}.json and tests/node/smi/{name}.txt go together: one is missing"
            )
        for path in sorted(RECORDED.glob("*.txt")):
            printed = "".join(
                legend.sub("", smi(path.stem, "topo", *how).stdout)
                for how in (["-m"], ["-p2p", "r"])
            )
            self.assertEqual(printed, path.read_text(), path.name)

    def test_cube_mesh(self) -> None:
        """Six NVLinks a GPU, over one or two to each of four others; no access without one."""
        links = [
            line.split("\t")[1:9] for line in smi("dgx1-v100", "topo", "-m").stdout.split("\n")[1:9]
        ]
        reach = [
            line.split("\t")[1:9]
            for line in smi("dgx1-v100", "topo", "-p2p", "r").stdout.split("\n")[1:9]
        ]
        for i, row in enumerate(links):
            self.assertEqual(sorted(row), [" X ", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS"])
            self.assertEqual([row[i] for row in links], row)
            self.assertEqual([word == "OK" for word in reach[i]], [x[:2] == "NV" for x in row])

    def test_bad_usage(self) -> None:
        self.assertEqual(smi("single", "topo", "-x").returncode, 2)
        self.assertEqual(smi("single", "--help").returncode, 0)

    def test_refusals_name_file_and_key(self) -> None:
        good = json.loads((NODES / "hgx-h200-4.json").read_text())
        mesh = {"kind": "mesh", "link_gbs": 25}
        cases = [
            ("not json", "{ nonsense", "line 1, column 4: not valid JSON from here on"),
            ("no gpus", {**good, "gpus": 3}, '"gpus" must be a list'),
            ("no rate", {**good, "pcie": {"label": "X"}}, '"gbs" must be a number'),
            ("bad peers", {**good, "peers": [[0, 9]]}, '"peers" holds a pair'),
            ("bad part", {**good, "gpus": [{**good["gpus"][0], "part": "../x"}]}, '"part"'),
            (
                "typo",
                {**good, "calls": {**good["calls"], "lunch_us": 1}},
                'no field "lunch_us"; it',
            ),
            ("no such pair", {**good, "nvlink": {**mesh, "links": [[0, 4, 1]]}}, '"links" must'),
            ("no links", {**good, "nvlink": {**mesh, "links": [[0, 1, 0]]}}, '"links" must hold'),
            ("odd refusal", {**good, "peers_refused": "NO"}, '"peers_refused" must be'),
            ("bad uuid", {**good, "gpus": [{**good["gpus"][0], "uuid": "GPU-1"}]}, '"uuid"'),
            ("free polls", {**good, "calls": {**good["calls"], "query_us": 0}}, '"query_us"'),
        ]
        for name, content, expected in cases:
            with self.subTest(name):
                text = content if isinstance(content, str) else json.dumps(content)
                self.assertIn(expected, refuse(text))
                self.assertIn("bad.json", refuse(text))

    def test_refusals_name_line_and_column(self) -> None:
        text = (NODES / "hgx-h200-4.json").read_text()

        def place(word: str, after: str = "") -> str:
            at = text.index(word, text.index(after))
            line = text.count("\n", 0, at) + 1
            return f"bad.json', line {line}, column {at - text.rfind(chr(10), 0, at)}: "

        for key, after in (("driver", ""), ("query_us", ""), ("gbs", '"sockets"')):
            with self.subTest(key):
                old = re.search(rf'"{key}":\s*[0-9.e]+', text[text.index(after) :])
                assert old
                start = text.index(after) + old.start()
                bad = text[:start] + f'"{key}": "much"' + text[start + len(old.group()) :]
                said = refuse(bad)
                self.assertIn(place(f'"{key}"', after), said)
                self.assertIn(f'"{key}" must be a number', said)

    def test_damaged_descriptions_are_refused_or_work(self) -> None:
        """No damage makes the node crash, hang, or refuse without a place."""
        text = (NODES / "pcie-4090-2.json").read_text()
        dice = random.Random(20261121)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bad.json")
            for _ in range(40):
                at, more = dice.randrange(len(text)), dice.randrange(1, 9)
                junk = dice.choice(["", "{", "]", "-1", "1e999", '"', "\\u0000", "null", "[[["])
                path.write_text(text[:at] + junk + text[at + more :])
                done = smi(str(path), "-L")
                if done.returncode != 0:
                    self.assertRegex(done.stderr, r"line \d+, column \d+: ", path.read_text())

    def test_unknown_node(self) -> None:
        done = smi("no-such-node", "-L")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-node", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
