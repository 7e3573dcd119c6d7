# SPDX-License-Identifier: MIT
"""What `./lab grade --jplag` writes, compared by JPlag itself, and the page of its result.

JPLAG is the path of JPlag's jar, 6.2 or later; without it this is skipped.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

from classroom import Classroom, solution

from grader.course.project import here
from grader.export import jplag, pairs
from grader.grade.contract import file_of
from grader.grade.model import Submission

JAR = os.environ.get("JPLAG", "")
# Another way than the solution's, in the same order.
OWN = """
#include "lab01.h"
#include <string.h>
int inv_count(int *n)
{
    int seen = -1;
    if (n == NULL) return LAB_EINVAL;
    switch (cudaGetDeviceCount(&seen)) {
    case cudaSuccess: *n = seen; return LAB_OK;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: *n = 0; return LAB_OK;
    default: return LAB_ECUDA;
    }
}
static int attribute(int gpu, enum cudaDeviceAttr which, int *value)
{
    return inv_result(cudaDeviceGetAttribute(value, which, gpu));
}
int inv_device(int device, struct gpu_info *info)
{
    struct cudaDeviceProp p;
    struct gpu_info mine = {0};
    int clock = 0, l2 = 0, status = info ? LAB_OK : LAB_EINVAL;
    if (status == LAB_OK) status = inv_result(cudaGetDeviceProperties(&p, device));
    if (status == LAB_OK) status = attribute(device, cudaDevAttrClockRate, &clock);
    if (status == LAB_OK) status = attribute(device, cudaDevAttrL2CacheSize, &l2);
    if (status == LAB_OK)
        status = inv_result(cudaDeviceGetPCIBusId(mine.bus_id, (int)sizeof mine.bus_id, device));
    if (status != LAB_OK) return status;
    mine.major = p.major, mine.minor = p.minor;
    mine.sms = p.multiProcessorCount, mine.copy_engines = p.asyncEngineCount;
    mine.clock_mhz = clock / 1000, mine.l2_bytes = (size_t)l2;
    mine.memory_bytes = p.totalGlobalMem;
    for (int i = 0; i < 16; i++) ((char *)mine.uuid)[i] = p.uuid.bytes[i];
    strncpy(mine.name, p.name, sizeof mine.name - 1);
    memcpy(info, &mine, sizeof mine);
    return LAB_OK;
}
int inv_mem(int device, size_t *free_bytes, size_t *total_bytes)
{
    int old = 0, status = LAB_EINVAL;
    size_t room[2];
    if (free_bytes && total_bytes) {
        status = inv_result(cudaGetDevice(&old));
        if (status == LAB_OK) {
            status = inv_result(cudaSetDevice(device));
            if (status == LAB_OK) status = inv_result(cudaMemGetInfo(&room[0], &room[1]));
            inv_result(cudaSetDevice(old));
        }
        if (status == LAB_OK) *free_bytes = room[0], *total_bytes = room[1];
    }
    return status;
}
static void give_back(void **all, int count)
{
    for (int i = 0; i < count; i++) inv_result(cudaFree(all[i]));
}
int inv_alloc_each(size_t bytes, void **buffers, int n)
{
    void *all[INV_MAX_GPUS] = {NULL};
    int have = 0, old = 0, status;
    if (n < 0 || (!buffers && n)) return LAB_EINVAL;
    if (!n) return LAB_OK;
    status = inv_count(&have);
    if (status != LAB_OK) return status;
    if (have < n || INV_MAX_GPUS < n) return LAB_ENOGPU;
    status = inv_result(cudaGetDevice(&old));
    if (status != LAB_OK) return status;
    for (int gpu = 0; gpu < n && status == LAB_OK; gpu++) {
        status = inv_result(cudaSetDevice(gpu));
        if (status == LAB_OK) status = inv_result(cudaMalloc(all + gpu, bytes));
        if (status != LAB_OK) give_back(all, gpu);
    }
    inv_result(cudaSetDevice(old));
    for (int gpu = 0; gpu < n && status == LAB_OK; gpu++) buffers[gpu] = all[gpu];
    return status;
}
int inv_by_bus(const char *bus_id, int *device)
{
    int number = 0;
    if (bus_id == NULL || device == NULL) return LAB_EINVAL;
    if (cudaDeviceGetByPCIBusId(&number, bus_id) == cudaSuccess) {
        *device = number;
        return LAB_OK;
    }
    inv_result(cudaGetLastError());
    return LAB_ENOGPU;
}
"""
NAMES = "seen p mine clock l2 status old room all have gpu number count attribute give_back"


def renamed(text: str, names: str) -> str:
    for at, name in enumerate(names.split()):
        text = re.sub(rf"(?<![\w.>\\]){name}\b", f"v{at}_{name[::-1]}", text)
    return text


def moved(text: str) -> str:
    """The lab's functions from the last to the first, what comes before each with it."""
    head, *functions = re.split(r"^(?=(?:static )?(?:int|void) \w+\()", text, flags=re.MULTILINE)
    helpers = [one for one in functions if one.startswith("static")]
    return head + "".join([*helpers, *reversed([one for one in functions if one not in helpers])])


def compared(folder: Path) -> Path:
    """JPlag has written its result there."""
    subprocess.run([folder / "run.sh"], check=True, timeout=300, capture_output=True)
    return folder


class JPlag(Classroom):
    def test_copies_are_first_and_independent_answers_are_last(self) -> None:
        published = solution("01")
        answers = {
            "ada": OWN,
            "bob": renamed(OWN, NAMES),
            "cyd": moved(renamed(OWN, NAMES)),
            "dan": renamed(published, "count error found prop clock_khz l2_bytes before made gpus"),
        }
        for student, text in answers.items():
            self.hand_in(student, "01", text)
        self.grade(self.folder / "class", "--jplag")
        self.assertEqual({row["mark"] for row in self.rows().values()}, {100})
        (folder,) = (self.folder / "out" / "jplag").glob("lab01*")
        page, found, left_out = pairs.write(compared(folder), 30)
        self.assertEqual(left_out, [])
        alike = {frozenset((one.first.who, one.second.who)): one.alike for one in found}
        for one in found:
            print(f"{one.alike:.0%} {one.jplag:.0%}  {one.first.who}, {one.second.who}")
        copies = [frozenset(pair) for pair in (("ada", "bob"), ("ada", "cyd"), ("bob", "cyd"))]
        copies.append(frozenset(("dan", "the published solution")))
        self.assertGreater(min(alike[pair] for pair in copies), 0.8)
        others = [share for pair, share in alike.items() if pair not in copies]
        self.assertEqual(len(others), 6)
        self.assertLess(max(others), 0.5)
        self.assertIn("the published solution", page.read_text(encoding="utf-8"))

    def test_every_lab_can_be_read(self) -> None:
        """Kernel launches, C's literals of structures: of each lab, what is copied is found."""
        project = here()
        for lab in project.labs():
            with self.subTest(lab.name):
                file, text = file_of(project, lab), renamed(solution(lab.number), "rc i n")
                copy = Submission("copy", "", lab, file, text.encode())
                graded = SimpleNamespace(lab=lab, file=file)
                jplag.write(project, graded, [copy], self.folder)
                _, found, left_out = pairs.write(compared(self.folder / lab.name), 30)
                self.assertEqual((len(found), left_out), (1, []))
                self.assertGreater(found[0].alike, 0.8)


if __name__ == "__main__":
    if not JAR:
        print("JPLAG names no jar of JPlag: nothing was compared")
        sys.exit(77)
    unittest.main()
