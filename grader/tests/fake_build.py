# SPDX-License-Identifier: MIT
"""A configured build tree with a verifier whose verdicts come from a file: no compiler needed."""

import json
import sys
import unittest

from grader.building import build
from grader.building.needs import CMAKE_AT_LEAST, version_of
from grader.tests.fake import FakeCheckout

# Verdict, todo and points of each case; `verdicts.json` in the root overrides the verdict.
CASES = {"twice": ("not written", 1, 60), "again": ("pass", 1, 20), "whole": ("fail", 0, 20)}
STATUSES = {"pass": 0, "fail": 1, "not written": 3, "harness error": 4, "cannot run": 77}

VERIFIER = f"""\
#!{sys.executable}
import json, pathlib, sys
root, cases, statuses = pathlib.Path(__file__).parent, {CASES!r}, {STATUSES!r}
if "--list-json" in sys.argv:
    print(json.dumps([{{"case": c, "todo": t, "points": p, "quick": True, "title": "about " + c}}
                      for c, (_, t, p) in cases.items()]))
    sys.exit(0)
word = dict(zip(sys.argv[1::2], sys.argv[2::2]))
case, name = word["--case"], word["--as"] + "." + word["--case"]
_, todo, points = cases[case]
with (root / "ran").open("a") as ran:
    print(case, file=ran)
verdict = json.loads((root / "verdicts.json").read_text())[case]
record = {{"test": name, "case": case, "todo": todo, "points": points, "title": "about " + case,
          "verdict": verdict, "message": "said of " + case, "where": "labs/01-tiny/tiny.c:8"}}
folder = pathlib.Path(word["--results"])
folder.mkdir(exist_ok=True)
if verdict != "died":
    (folder / (name + ".json")).write_text(json.dumps(record))
print(verdict, name, "in full")
sys.exit(statuses.get(verdict, 9))
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(fake LANGUAGES NONE)
enable_testing()
set(PEERLAB_BACKEND vgpu CACHE STRING "")
set(runners ${CMAKE_BINARY_DIR}/runners)
set(what0 p) # a runner is what it has of the learner's file: of TODO(1), lines that begin with 1
set(what1 /^1/!d)
foreach(todo IN ITEMS 0 1)
  add_custom_command(OUTPUT ${runners}/lab01-run-${todo} DEPENDS labs/01-tiny/tiny.c
    COMMAND sh compiles && mkdir -p ${runners}
    COMMAND sed ${what${todo}} labs/01-tiny/tiny.c >${runners}/lab01-run-${todo}
    COMMAND echo ${todo} >>${CMAKE_SOURCE_DIR}/linked WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endforeach()
add_custom_target(lab01 COMMAND sh ${CMAKE_SOURCE_DIR}/compiles
  DEPENDS ${runners}/lab01-run-0 ${runners}/lab01-run-1)
foreach(prefix IN ITEMS lab01 solution01)
  foreach(case IN ITEMS twice again whole)
    add_test(NAME ${prefix}.${case}
      COMMAND ${CMAKE_SOURCE_DIR}/check --runner ${runners}/lab01-run --case ${case} --as ${prefix}
              --results ${CMAKE_BINARY_DIR}/results)
    set(todo 1)
    if(case STREQUAL "whole")
      set(todo 0)
    endif()
    set_tests_properties(${prefix}.${case} PROPERTIES SKIP_RETURN_CODE 77 LABELS todo${todo})
  endforeach()
endforeach()
add_test(NAME unit.ok COMMAND ${CMAKE_COMMAND} -E true)
add_test(NAME unit.gone COMMAND ${CMAKE_SOURCE_DIR}/no-such-program)
set_tests_properties(unit.ok unit.gone PROPERTIES LABELS project)
"""

PRESETS = {
    "version": 6,
    "configurePresets": [{"name": "vgpu", "binaryDir": "${sourceDir}/build/vgpu"}],
}


class FakeBuild(FakeCheckout):
    """A fake checkout that can be configured; `verdict(...)` says how the tests will end."""

    def setUp(self) -> None:
        super().setUp()
        if version_of(self.project, "cmake") < CMAKE_AT_LEAST:
            raise unittest.SkipTest("CMake 3.25 is not here")
        self.write("CMakeLists.txt", CMAKE)
        self.write("CMakePresets.json", json.dumps(PRESETS))
        self.write("check", VERIFIER).chmod(0o755)
        self.write("compiles", "")
        self.write("labs/01-tiny/tiny.c", "")
        self.verdict()

    def verdict(self, **verdicts: str) -> None:
        ends = {case: entry[0] for case, entry in CASES.items()}
        self.write("verdicts.json", json.dumps({**ends, **verdicts}))

    def configure(self) -> None:
        self.assertTrue(build.configure(self.project))
