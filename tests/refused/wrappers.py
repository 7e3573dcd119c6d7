# SPDX-License-Identifier: MIT
"""Builds a lab's runner with a wrapper around each function of the lab and each call of CUDA."""

import re
import shlex
from pathlib import Path

import corpus
import signatures

from grader.base.exits import LabError
from grader.base.proc import Done, capture
from grader.building.needs import build_env
from grader.course.project import Lab, Project

HERE = Path(__file__).resolve().parent
_PLAIN = ("GetLastError", "PeekAtLastError", "GetErrorString", "GetErrorName")  # read errors only
# They do their work and report an error: that of an earlier asynchronous launch, or the GPU's (a
# GPU becomes current even where its context cannot be made).
_DOES = re.compile("Free|Destroy|Close|Release|Unmap|DisablePeer|SetDevice")
_FUNCTION = """
int __real_{name}({typed});
int __wrap_{name}({typed});
int __wrap_{name}({typed})
{{
    struct refused_call call;
    if (!refused_enter(&call, "{name}"))
        return __real_{name}({named});
{keeps}    int lab_result = __real_{name}({named});
    if (!refused_leave(&call, lab_result))
        return lab_result;
{compares}    if (refused_again(&call)) {{
        lab_result = __real_{name}({named});
        refused_leave(&call, lab_result);
    }}
    return lab_result;
}}
"""
_KEEP = """    __typeof__(*{p}) was_{p};
    bool kept_{p} = refused_keep(&was_{p}, {p}, sizeof was_{p});
"""
_COMPARE = """    if (kept_{p})
        refused_compare(&call, "{p}", &was_{p}, {p}, sizeof was_{p});
"""


def build(project: Project, lab: Lab, source: Path, folder: Path) -> Path:
    """The runner in `folder`, all functions from `source`."""
    conf = (project.build_dir / "labs" / lab.folder / "lab.conf").read_text(encoding="utf-8")
    functions = corpus.declared(project, lab).functions
    compiled = folder / "student.o"
    _labcc(
        project, project.build_dir / "labs" / lab.folder / "lab.conf", "compile", source, compiled
    )
    calls = _calls([compiled, *_words(conf, "LAB_GIVEN")])
    (folder / "calls.inc").write_text(_call_wrappers(calls), encoding="utf-8")
    text = _function_wrappers(project, lab, list(functions))
    (folder / "functions.c").write_text(text, encoding="utf-8")
    objects = []
    for source in (HERE / "calls.c", folder / "functions.c"):
        objects.append(folder / f"{source.stem}.o")
        words = [
            *_words(conf, "LAB_CC"),
            f"-I{HERE}",
            f"-I{folder}",
            "-c",
            "-o",
            objects[-1],
            source,
        ]
        _require(capture([str(word) for word in words]))
    wraps = [f"-Wl,--wrap={name}" for name in (*calls, *functions)]
    ours = folder / "lab.conf"
    ours.write_text(
        f"{conf}\nLAB_LINK='{chr(10).join([*_words(conf, 'LAB_LINK'), *wraps])}'\n"
        f"LAB_GIVEN='{chr(10).join(map(str, [*_words(conf, 'LAB_GIVEN'), *objects]))}'\n",
        encoding="utf-8",
    )
    runner = folder / "run"
    _labcc(project, ours, "runner", compiled, "0", runner)
    return runner


def places(runner: Path, offsets: set[str]) -> dict[str, str]:
    """The source line of each offset in the program."""
    order = sorted(offsets)
    if not order:
        return {}
    words = ["addr2line", "-e", str(runner), *(f"0x{offset}" for offset in order)]
    lines = [line.split(" ")[0] for line in capture(words).output.splitlines()]
    return dict(zip(order, lines, strict=True))


def _words(conf: str, name: str) -> list[str]:
    found = re.findall(rf"^{name}=('[^']*')", conf, re.MULTILINE)
    return [word for word in shlex.split(found[-1])[0].split("\n") if word]


def _labcc(project: Project, conf: Path, action: str, *words: str | Path) -> None:
    script = project.root / "harness" / "cmake" / "labcc.sh"
    _require(capture(["sh", script, conf, action, *words], env=build_env(project)))


def _require(done: Done) -> None:
    if not done.ok:
        raise LabError(done.output)


def _calls(objects: list[str | Path]) -> list[str]:
    """The calls of CUDA that these objects make and that may fail."""
    listed = capture(["nm", "-P", "-u", *map(str, objects)]).output
    names = set(re.findall(r"^(cu(?:da)?[A-Z]\w+) U", listed, re.MULTILINE))
    return sorted(name for name in names if not name.endswith(_PLAIN))


def _call_wrappers(calls: list[str]) -> str:
    lines = [f"REFUSED_CALL({name}, {int(bool(_DOES.search(name)))})\n" for name in calls]
    return "".join(lines)


def _function_wrappers(project: Project, lab: Lab, functions: list[str]) -> str:
    headers = corpus.headers(project, lab)
    known = signatures.read(headers)
    text = "".join(path.read_text(encoding="utf-8") for path in headers)
    outputs = [f'#include "{path.name}"\n' for path in headers] + ['#include "calls.h"\n']
    for name in functions:
        typed = re.search(rf"^int {name}\(([^;{{}}]*)\);", text, re.MULTILINE)[1]
        names = [parameter.name for parameter in known[name].parameters]
        named = ", ".join(names)
        written = _written(known[name], typed)
        outputs.append(
            _FUNCTION.format(
                name=name,
                typed=typed,
                named=named,
                keeps="".join(_KEEP.format(p=p) for p in written),
                compares="".join(_COMPARE.format(p=p) for p in written),
            )
        )
    return "".join(outputs)


def _written(function: signatures.Function, typed: str) -> list[str]:
    """Its parameters that point to something of a known size which it may write to."""
    found = []
    for parameter, words in zip(function.parameters, typed.split(","), strict=True):
        to = parameter.points_to
        if to and to not in ("void", "FILE") and not re.search(r"\bconst [\w ]+\*\s*\w", words):
            found.append(parameter.name)
    return found
