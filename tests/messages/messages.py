# SPDX-License-Identifier: MIT
"""What a learner reads of every wrong answer of tests/mutants and tests/misconceptions.

    messages.py --build build/vgpu [--every N] [--lab NN ...] [--show] [--jobs N]

Runs the test that rejects each of them (one in N; all with PEERLAB_FULL=1) and looks at the record:

  * no sentence stands in it twice;
  * no word in it is cut: every word is one of the sources' or of the answer's own;
  * a message with a number that was measured says what it must be;
  * no file and no function of the tests or of the virtual node is named;
  * `where` is a line of the learner's file;
  * `why` goes with the finding: a finding that knows the mistake has no fixed sentence beside it, a
    leak and a wait of the host have the sentences of their kind;
  * a call that had to be refused is told as that, without what came of its going on;
  * a crash names the call; a finding is told, not its code alone; memory that is there is not
    said to be missing.

Every step has an end, and --minutes the whole: who is waited for then is printed.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]

from answers import Answer, Told, answers, told  # noqa: E402

from grader.base.exits import LabError  # noqa: E402
from grader.building import ctest  # noqa: E402
from grader.course.project import here  # noqa: E402

FIELDS = ("message", "explained", "said", "why")
SHORT = 5  # words of a sentence that may stand twice: "[order.gpus; ./lab explain order.gpus]"

# A number that was measured, and how a message says what it must be.
MEASURED = re.compile(
    r"\b(?:is|are|was|gave|returned|got|made|says|took|wrote|went|waited|launched|moved)\b"
    r"[^.;:]*?(?<![\w.])-?\d"
)
MUST = re.compile(
    r"expected|must|allow|at most|at least|more than|less than|instead of|all the same|yet it|"
    r"is not|are not|by luck|left behind|belongs|was current|was \d+ before|last error|no such|"
    r"the node has|was invalid|saw no|other bits|before it was|"
    r"your fault|cannot|have no|has no|is no|this machine has|the allocation has"
)
OURS = re.compile(
    r"\b(?:lab__|vgpu__|refused_)\w+|"
    r"\b(?:public|hidden|runner|vectors|parcels|lone|ring_rank|judge|case)\.(?:c|cu|h):\d+"
)
# Findings, and the only sentences that may stand beside one: those that come from what was seen.
FINDING = re.compile(r"\[(order|kernels|leaks|api)\.[\w-]+;")
KINDS = {
    "leak": re.compile(r"^a call frees what it makes for itself"),
    "host wait": re.compile(r"^it queues work and returns"),
}


def sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = re.sub(r"^\s*(vgpu: \w+: )?", "", line)
        for part in re.split(r"(?<=[.;:?!]) |; ", line):
            words = part.strip(" .;:,")
            if len(words.split()) >= SHORT:
                yield words


def twice(record: Told) -> Iterable[str]:
    """Of what the runtime says of calls, also what differs in numbers only."""
    seen: set[str] = set()
    for field in FIELDS:
        for sentence in sentences(record.get(field, "")):
            words = re.sub(r"0x[0-9a-f]+|\d+", "N", sentence) if field == "said" else sentence
            if {words, sentence} & seen:
                yield f"said twice: {sentence}"
            seen |= {words, sentence}
    if all("cudaGetLastError" in record.get(field, "") for field in ("message", "why")):
        yield "said twice: that cudaGetLastError clears the error"


@cache
def vocabulary() -> frozenset[str]:
    """The words of all that prints, of the labs and of their answers."""
    words: set[str] = set()
    for folder in ("vgpu", "harness", "labs", "solutions", "grader/words"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".cu", ".cc", ".def", ".json", ".md", ".py"):
                text = path.read_text(encoding="utf-8", errors="replace")
                words.update(re.findall(r"[A-Za-z_]{3,}", text))
    return frozenset(words)


def cut(answer: Answer, record: Told) -> Iterable[str]:
    own = set(re.findall(r"[A-Za-z_]{3,}", answer.text))
    for field in FIELDS:
        text = re.sub(r"0x[0-9a-fA-F]+|'[^']*'", " ", record.get(field, ""))
        for word in re.findall(r"(?<![A-Za-z_0-9])[A-Za-z_]{3,}", text):
            if word not in vocabulary() and word not in own:
                yield f"no whole word in {field}: {word}"


def says_what_must_be(record: Told) -> Iterable[str]:
    text = record["message"]
    if not record.get("ending") and MEASURED.search(text) and not MUST.search(text):
        yield "the message has a number and does not say what it must be"


def names_ours(record: Told) -> Iterable[str]:
    for field in FIELDS:
        if match := OURS.search(record.get(field, "")):
            yield f"{field} names {match[0]}"


def where(answer: Answer, record: Told) -> Iterable[str]:
    place = re.fullmatch(r"(.*):(\d+)", record.get("where", ""))
    if not place or Path(place[1]).name != answer.file.name:
        yield f"where is '{record.get('where', '')}', not a line of {answer.file.name}"
    elif not 0 < int(place[2]) <= answer.text.count("\n") + 1:
        yield f"where is {record['where']}, behind the end of the file"


def why(record: Told) -> Iterable[str]:
    """The finding knows more than any fixed sentence; a kind of grave mistake has its own."""
    said, kind = record.get("why", ""), KINDS.get(record.get("grave", ""))
    if kind and not kind.search(said):
        yield f"a {record['grave']}, and why is '{said}'"
    if said and not kind and FINDING.search(record.get("explained", "")):
        yield f"a finding, and beside it why: {said}"
    if said and record.get("ending") and record["ending"] != "trap":
        yield f"it never came to a comparison ({record['ending']}), and why is: {said}"


def refused(record: Told) -> Iterable[str]:
    """What must be refused has done nothing that could be told."""
    if re.search(r"returned .*, expected .*LAB_(EINVAL|ENOGPU|ERANGE)", record["message"]):
        for field in ("explained", "said"):
            if record.get(field):
                yield f"the call had to be refused, and {field} is: {record[field]}"


def names_call(record: Told) -> Iterable[str]:
    text = f"{record['message']}\n{record.get('explained', '')}"
    if match := re.search(r"was ended by signal [^\n]*?, in ('[^']*')", text):
        yield f"a crash in {match[1]}, which is no call"
    if match := re.search(r"ended with status \w+", record["message"]):
        yield f"a crash told as a number: {match[0]}"


def tells_finding(record: Told) -> Iterable[str]:
    if match := re.search(r"^it found [\w.-]+", record.get("explained", ""), re.MULTILINE):
        yield f"a finding without a sentence: {match[0]}"
    for asked, free in re.findall(r"(\d+) bytes asked for, GPU \d+ has (\d+) free", record["said"]):
        if int(asked) <= int(free):
            yield f"{asked} bytes are said not to fit into {free}"


def problems(answer: Answer, record: Told) -> list[str]:
    if record.get("verdict") != "fail":
        return [f"{answer.case}: {record.get('verdict', 'no record')}: {record.get('message')}"]
    return [
        *twice(record),
        *cut(answer, record),
        *says_what_must_be(record),
        *names_ours(record),
        *where(answer, record),
        *why(record),
        *refused(record),
        *names_call(record),
        *tells_finding(record),
    ]


def show(answer: Answer, record: Told, found: Iterable[str]) -> None:
    print(f"{answer.label} ({answer.case})")
    for field in (*FIELDS, "where"):
        if record.get(field):
            print(f"    {field}: {record[field]}")
    for problem in found:
        print(f"  ! {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--lab", action="append")
    parser.add_argument("--show", action="store_true", help="print all, also what is in order")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=0, help="the end of it; 0: without one")
    asked = parser.parse_args()
    project = here(build=asked.build)
    tests = {test.name: test for test in ctest.tests(project, "^solution")}
    step = 1 if "PEERLAB_FULL" in os.environ else asked.every
    everyone = [one for one in answers(project) if not asked.lab or one.lab.number in asked.lab][
        ::step
    ]
    at = project.build_dir / "messages"
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    late: list[str] = []

    def look(answer: Answer) -> tuple[Answer, Told, list[str]]:
        if time.monotonic() > end:
            late.append(answer.label)
            return answer, {}, []
        try:
            record = told(project, answer, tests, at)
        except LabError as error:
            return answer, {}, [str(error)]
        return answer, record, problems(answer, record)

    bad = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for answer, record, found in pool.map(look, everyone):
            bad += bool(found)
            if found or asked.show:
                show(answer, record, found)
                sys.stdout.flush()
    if late:
        print(f"not looked at in {asked.minutes:g} minutes: {len(late)}, from {late[0]} on")
    print(f"{len(everyone) - len(late)} answers, {bad} of which are told badly")
    return 1 if bad or late or not everyone else 0


if __name__ == "__main__":
    sys.exit(main())
