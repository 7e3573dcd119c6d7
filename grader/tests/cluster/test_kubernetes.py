# SPDX-License-Identifier: MIT
"""grader/cluster/kubernetes.yaml has the form that Kubernetes wants, and names what there is."""

import argparse
import copy
import importlib.util
import unittest
from pathlib import Path
from typing import Any

from grader.commands import instructor
from grader.selfcheck.lacking import needs

try:
    import kubernetes_validate
    import yaml
except ModuleNotFoundError:
    kubernetes_validate = None

Json = dict[str, Any]
FILE = Path(__file__).resolve().parents[2] / "cluster" / "kubernetes.yaml"
OLDEST = "1.31"  # podFailurePolicy is stable there; backoffLimitPerIndex in 1.33


@needs(kubernetes_validate, "no kubernetes-validate (pip)")
class Manifests(unittest.TestCase):
    def setUp(self) -> None:
        self.parts = list(yaml.safe_load_all(FILE.read_text(encoding="utf-8")))

    def test_schemas(self) -> None:
        for version in (OLDEST, kubernetes_validate.latest_version()):
            for part in self.parts:
                with self.subTest(version=version, kind=part["kind"]):
                    kubernetes_validate.validate(part, version, strict=True)

    def test_the_schemas_reject(self) -> None:
        """A field that there is not, and ones of another type."""
        (job,) = [part for part in self.parts if part["metadata"]["name"] == "peerlab-workers"]
        for change in (
            {"completion": 4},
            {"template": {"spec": {"containers": 1}}},
            {"completions": "many"},
        ):
            wrong = copy.deepcopy(job)
            wrong["spec"] |= change
            with self.assertRaises(kubernetes_validate.ValidationError, msg=str(change)):
                kubernetes_validate.validate(wrong, OLDEST, strict=True)

    def test_the_commands_exist(self) -> None:
        collector, workers = (p["spec"] for p in self.parts if p["kind"] == "Job")
        words = collector["template"]["spec"]["containers"][0]["command"]
        self.assertEqual(words[:2], ["./lab", "grade"])
        parser = argparse.ArgumentParser()
        instructor.add_words(parser)
        args = parser.parse_args(words[2:])
        self.assertEqual(args.executor, "workers")
        _, _, module_flag, module, folder, name, wait = workers["template"]["spec"]["containers"][
            0
        ]["command"]
        self.assertEqual((module_flag, name, wait), ("-m", "$(POD_NAME)", "--wait"))
        self.assertIsNotNone(importlib.util.find_spec(module))
        self.assertEqual(Path(folder), args.out / "work")
        self.assertEqual(workers["completionMode"], "Indexed")
        self.assertEqual(workers["completions"], workers["parallelism"])


if __name__ == "__main__":
    unittest.main()
