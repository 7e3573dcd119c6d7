# SPDX-License-Identifier: MIT
"""Node descriptions against vgpu/nodes/schema.json: test_schema.py NODES.

Every description and every part fits it, each kind of mistake does not and is reported by field,
and what the node itself reads (its lists of fields) is what the schema offers.
"""

import copy
import json
import pathlib
import re
import sys
import unittest

try:
    import jsonschema
except ImportError:  # CI installs it
    print("the Python package jsonschema is not installed")
    sys.exit(77)

NODES = pathlib.Path(sys.argv[1])
SCHEMA = json.loads((NODES / "schema.json").read_text())
PART = {"$ref": "#/$defs/part", "$defs": SCHEMA["$defs"]}


def complaints(document: object, schema: dict) -> list[str]:
    """ "copies.peer.gbs: ..." for each thing that does not fit."""
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{'.'.join(str(key) for key in one.absolute_path)}: {one.message}" for one in found]


def descriptions() -> list[pathlib.Path]:
    return [path for path in sorted(NODES.glob("*.json")) if path.name != "schema.json"]


def put(document: dict, field: str, value: object) -> dict:
    """A copy of `document` with `field` ("pcie.gbs") changed, or left out for None."""
    changed = copy.deepcopy(document)
    *way, last = field.split(".")
    inner = changed
    for key in way:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return changed


class Schema(unittest.TestCase):
    def test_it_is_one(self) -> None:
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_every_description_fits(self) -> None:
        self.assertGreaterEqual(len(descriptions()), 13)
        for path in descriptions():
            node = json.loads(path.read_text())
            self.assertEqual(complaints(node, SCHEMA), [], path.name)
            self.assertEqual(node["name"], path.stem)
            sections = {"gpus", "peers", "nvlink", "pcie", "sockets", "copies", "edges"}
            sections |= {"kernel", "calls", "cold", "nccl"}
            self.assertEqual(set(node["sources"]) - {"memory_gbs"}, sections & set(node), path.name)

    def test_the_page_has_every_description(self) -> None:
        page = (NODES.parents[1] / "docs" / "virtual-node.md").read_text()
        rows = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
        missing = [path.stem for path in descriptions() if f"`{path.stem}`" not in rows]
        self.assertEqual(missing, [], "not in docs/virtual-node.md's table")

    def test_every_part_fits(self) -> None:
        for path in sorted((NODES / "parts").glob("*.json")):
            self.assertEqual(complaints(json.loads(path.read_text()), PART), [], path.name)

    def test_mistakes_are_reported_by_field(self) -> None:
        good = json.loads((NODES / "dgx1-v100.json").read_text())
        cases: list[tuple[str, object]] = [
            ("name", "DGX 1"),
            ("sources.copies", None),
            ("gpus.0.pci", "06:00.0"),
            ("gpus.0.uuid", "GPU-1"),
            ("peers", "some"),
            ("peers_refused", "no"),
            ("nvlink.links", [[0, 1]]),
            ("nvlink.port_gbs", 300),
            ("pcie.switch_gbs", None),
            ("pcie.label", "SYS"),
            ("copies.peer.gbs", 0),
            ("copies.peer.latency", 2),
            ("copies.staged", None),
            ("kernel.write_weight", 0.5),
            ("calls.query_us", 0),
            ("speed", 1),
        ]
        for field, value in cases:
            with self.subTest(field):
                found = complaints(put(good, field, value), SCHEMA)
                section = field.split(".")[0]
                self.assertTrue(any(section in one for one in found), found)

    def test_the_node_reads_what_the_schema_offers(self) -> None:
        """The words in the calls of reader_fields() are the schema's properties."""
        sources = sorted((NODES.parent / "node" / "machine").glob("*.c"))
        text = "".join(source.read_text() for source in sources)
        calls = re.findall(r"reader_fields\([^;]*;", text, re.S)
        lists = [words for call in calls for words in re.findall(r'"(.*?)"', call)]
        read = {word for words in lists for word in re.findall(r"\w+", words)}
        offered: set[str] = set()

        def collect(schema: object) -> None:
            if isinstance(schema, dict):
                offered.update(schema.get("properties", {}))
                for inner in schema.values():
                    collect(inner)
            elif isinstance(schema, list):
                for inner in schema:
                    collect(inner)

        collect(SCHEMA)
        offered -= {"const"}
        self.assertEqual(offered - read, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
