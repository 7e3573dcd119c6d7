# SPDX-License-Identifier: MIT
"""Where there are no control groups a submission's memory has an end all the same: the verifier
looks at what all its processes have, those that run its kernels, too."""

import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grader.grade.model import Status, Submission
from grader.grade.work import worker
from grader.sandbox import cgroups, tier
from tests.hostile.corpus import compose, load
from tests.hostile.course import arena

TAKES = (
    ("node", "image_eats_memory"),
    ("resource", "eats_shared_memory"),
    ("resource", "eats_without_main_thread"),
    ("resource", "eats_sockets"),
)
STAYS = "tried(); sleep(15);"  # meanwhile its kernels' process goes on


class WithoutControlGroups(unittest.TestCase):
    def test_it_is_ended_and_told_why(self) -> None:
        patience = {"LAB_CPU_SECONDS": "20", "LAB_IDLE_SECONDS": "20", "LAB_WALL_SECONDS": "60"}
        with (
            tempfile.TemporaryDirectory(prefix="hostile-") as folder,
            mock.patch.dict(os.environ, patience),
            mock.patch.object(tempfile, "tempdir", folder),
            mock.patch.object(cgroups, "make", return_value=None),
            arena(Path(folder), tier()) as place,
        ):
            Path(folder).chmod(0o711)
            lab = place.labs["01"]
            grading = worker(place.course, tier(), 7, 1, Path(folder), 0)
            for group, name in TAKES:
                (attack,) = [one for one in load(group) if one.name == name]
                stays = replace(attack, body=attack.body.replace("tried();", STAYS))
                text = compose(stays, place.places, place.bases)
                student = Submission(name, "", lab.lab, lab.file, text.encode())
                run = grading.grade(lab, student)
                with self.subTest(name):
                    self.assertEqual({case.status for case in run.cases}, {Status.CRASH})
                    for case in run.cases:
                        self.assertIn("took more than 2048 MiB of memory", case.message)


if __name__ == "__main__":
    unittest.main()
