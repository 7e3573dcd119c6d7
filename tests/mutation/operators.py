# SPDX-License-Identifier: MIT
"""Every first-order mutant of a learner's file: one small change each, of the kinds that learners
make. An operator is a function from a passage to changes; OPERATORS lists them all.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from source import (
    Region,
    calls,
    declares,
    in_launch,
    is_type_word,
    regions,
    statements,
)

from grader.course.contract import results

Change = tuple[int, int, str]  # from and to in the file, and what stands there instead


@dataclass(frozen=True)
class Made:
    """A mutant. `was` and `becomes` are the lines changed: lists know it by them."""

    operator: str
    todos: frozenset[int]  # in whose answer it is: of one task, but for helpers of several
    line: int
    was: str
    becomes: str
    text: str  # the whole file

    time: int = 1  # which of several in the file with the same two lines

    @property
    def key(self) -> str:
        again = f" #{self.time}" if self.time > 1 else ""
        return f"{self.was} => {self.becomes}{again}"


@dataclass(frozen=True)
class Context:
    """What operators must know of the whole file and its headers."""

    source: str
    enums: dict[str, str]  # an enumerator or result code -> another of the same kind
    types: dict[str, str]  # a variable or parameter -> its type, where the file says it once
    fields: dict[str, list[str]]  # a field -> the others of its type in its structure
    streams: set[str]  # variables and fields that are streams
    results: set[str]  # functions that give a result


def mutants(source: str, header: str) -> list[Made]:
    """All of a file, in the order of its lines; two changes with the same result count once."""
    context = context_of(source, header)
    found: dict[str, Made] = {}
    for region in regions(source):
        for operator in OPERATORS:
            for begin, end, new in operator(region, context):
                made = _apply(source, operator.__name__, region.todos, (begin, end, new))
                if made.text != source:
                    found.setdefault(made.text, made)
    seen: Counter[str] = Counter()
    made = []
    for one in sorted(found.values(), key=lambda one: one.line):
        seen[one.key] += 1
        made.append(replace(one, time=seen[one.key]))
    return made


def context_of(source: str, header: str) -> Context:
    text = header + source
    return Context(
        source,
        enumerators(header),
        variables(source),
        fields(text),
        set(re.findall(r"\bcudaStream_t\s+(\w+)", text)),
        set(re.findall(r"^(?:static )?int (\w+)\(", text, re.MULTILINE)),
    )


def _apply(source: str, operator: str, todos: frozenset[int], change: Change) -> Made:
    begin, end, new = change
    text = source[:begin] + new + source[end:]
    first = source.rfind("\n", 0, begin) + 1
    last = source.find("\n", end)
    lines = source[first:last], text[first : last + len(text) - len(source)]
    was, becomes = (" ".join(line.split()) for line in lines)
    return Made(operator, todos, source.count("\n", 0, begin) + 1, was, becomes, text)


def enumerators(header: str) -> dict[str, str]:
    """For each enumerator the next one of its enum, and for each result of lab.h another."""
    others: dict[str, str] = {}
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", header):
        names = re.findall(r"\b([A-Z][A-Z0-9_]+)\b(?=\s*(?:=[^,]*)?(?:,|$|/))", body + ",")
        for i, name in enumerate(names):
            if len(names) > 1:
                others[name] = names[(i + 1) % len(names)]
    errors = results(Path(__file__).resolve().parents[2])[1:]
    for i, name in enumerate(errors):
        others[name] = errors[(i + 1) % (len(errors) - 1)]
    return others


def variables(source: str) -> dict[str, str]:
    """Types of plain variables and parameters: a name of two types in one file is left out."""
    types: dict[str, str] = {}
    pattern = (
        r"\b((?:const\s+|unsigned\s+|struct\s+)*(?:int|size_t|float|double|char|void|uint64_t|\w+_t|"
        r"(?<=struct\s)\w+))\s+((?:\**\w+(?:\[[^\]]*\])?(?:\s*=\s*[^,;()]+)?\s*,\s*)*\**\w+)"
        r"(?=\s*[,;=)\[])"
    )
    for kind, names in re.findall(pattern, source):
        for part in names.split(","):
            name = part.split("=")[0].split("[")[0].strip()
            full = kind.replace("const ", "") + "*" * name.count("*")
            name = name.strip("* ")
            types[name] = full if types.get(name, full) == full else "?"
    return {name: kind for name, kind in types.items() if kind != "?"}


def fields(text: str) -> dict[str, list[str]]:
    """Of every field of a structure the others of the same type; arrays count as of another one."""
    others: dict[str, list[str]] = {}
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for body in re.findall(r"\bstruct\s+\w+\s*\{([^{}]*)\}", text):
        kinds: dict[str, list[str]] = {}
        for declared in body.split(";"):
            found = re.match(r"\s*((?:(?:const|unsigned|struct|enum) )*\w+)([^()]*)$", declared)
            for name in found[2].split(",") if found else []:
                plain = re.sub(r"\[.*|[*\s]", "", name)
                kind = f"{found[1]}{name.count('*')}{name.count('[')}"
                kinds.setdefault(kind, []).append(plain)
        for alike in kinds.values():
            for name in alike:
                here = [one for one in alike if one != name]
                others[name] = sorted({*others.get(name, []), *here})
    return others


# ---- operators ----


def delete_statement(region: Region, context: Context) -> Iterator[Change]:
    for first, last in statements(region):
        yield region.tokens[first].at, region.tokens[last].end, ";"


def change_condition(region: Region, context: Context) -> Iterator[Change]:
    """Negated; evaluated and ignored, which removes an error check. A loop is not entered."""
    for i, token in enumerate(region.tokens):
        if i + 1 not in region.close:
            continue
        last = region.close[i + 1]
        begin, end = region.tokens[i + 1].at, region.tokens[last].end
        condition = context.source[begin:end]
        if token.text == "if":
            yield begin, end, f"(!{condition})"
            yield begin, end, f"({condition}, 0)"
        elif token.text == "while":
            yield begin, end, "(0)"
        elif token.text == "for":
            ends = [k for k in range(i + 2, last) if region.text(k) == ";"]
            if len(ends) == 2 and ends[1] > ends[0] + 1:
                yield region.tokens[ends[0] + 1].at, region.tokens[ends[1]].at, "0"


def swap_branches(region: Region, context: Context) -> Iterator[Change]:
    """a ? b : c becomes a ? c : b."""
    for i, token in enumerate(region.tokens):
        if token.text != "?":
            continue
        colon = region.forward(i, {":"})
        while sum(region.text(k) == "?" for k in range(i, colon)) > sum(
            region.text(k) == ":" for k in range(i, colon + 1)
        ):
            colon = region.forward(colon, {":"})
        last = region.forward(colon, {",", ";"}) - 1
        if region.text(colon) == ":" and last > colon:
            one = context.source[region.tokens[i + 1].at : region.tokens[colon - 1].end]
            two = context.source[region.tokens[colon + 1].at : region.tokens[last].end]
            yield region.tokens[i + 1].at, region.tokens[last].end, f"{two} : {one}"


def drop_operand(region: Region, context: Context) -> Iterator[Change]:
    """One condition of several is not asked."""
    stops = {",", ";", "?", ":", "=", "return", "{", "}", "||"}
    for i, token in enumerate(region.tokens):
        if token.text not in ("&&", "||"):
            continue
        around = stops | {token.text}
        first, last = region.backward(i, around) + 1, region.forward(i, around) - 1
        yield region.tokens[i - 1].end, region.tokens[last].end, ""
        if region.text(first - 1) != token.text:
            yield region.tokens[first].at, region.tokens[i + 1].at, ""


def replace_operator(region: Region, context: Context) -> Iterator[Change]:
    others = {
        "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
        "!=": ("==",), "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("/",),
        "/": ("*",), "%": ("/",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
        "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "|=": ("&=",), "&=": ("|=",),
    }  # fmt: skip
    for i, token in enumerate(region.tokens):
        if token.text in ("++", "--"):
            yield token.at, token.end, "--" if token.text == "++" else "++"
        if i == 0 or not region.tokens[i - 1].is_operand or is_type_word(region, i - 1):
            continue
        for other in others.get(token.text, ()):
            yield token.at, token.end, other


def drop_negation(region: Region, context: Context) -> Iterator[Change]:
    for i, token in enumerate(region.tokens):
        is_sign = token.text == "-" and i > 0 and not region.tokens[i - 1].is_operand
        if token.text in ("!", "~") or is_sign:
            yield token.at, token.end, ""


def change_constant(region: Region, context: Context) -> Iterator[Change]:
    for token in region.tokens:
        if not token.text[0].isdigit():
            continue
        number, suffix = re.fullmatch(r"(.*?)([uUlL]*)", token.text).groups()
        if re.fullmatch(r"\d+|0[xX][0-9a-fA-F]+", number):
            value = int(number, 0) if not number.isdigit() else int(number)
            yield token.at, token.end, f"{value + 1}{suffix}"
            if value > 0:
                yield token.at, token.end, f"{value - 1}{suffix}"
        else:  # a fraction
            yield token.at, token.end, f"(1 + {token.text})"


def off_by_one(region: Region, context: Context) -> Iterator[Change]:
    """The next element; constants are change_constant's."""
    for i, last in region.close.items():
        if region.text(i) != "[" or i == 0 or not region.tokens[i - 1].is_operand:
            continue
        inside = context.source[region.tokens[i].end : region.tokens[last].at]
        begin = region.backward(i, {";", "{", "}", "="}) + 1
        if not inside.isdigit() and not declares(region, begin):
            yield region.tokens[last].at, region.tokens[last].at, " + 1"


def narrow_type(region: Region, context: Context) -> Iterator[Change]:
    narrow = {"size_t": "int", "uint64_t": "unsigned", "int64_t": "int", "ssize_t": "int"}
    narrow |= {"double": "float", "long": "int"}
    for token in region.tokens:
        if token.text in narrow:
            yield token.at, token.end, narrow[token.text]


def narrow_value(region: Region, context: Context) -> Iterator[Change]:
    """A size that goes through an int on its way into a call or a variable."""
    wide = {name for name, kind in context.types.items() if kind in ("size_t", "uint64_t")}
    for i, token in enumerate(region.tokens):
        if token.text not in wide or region.text(i + 1) in ("=", "(", "+=", "-="):
            continue
        if region.text(i - 1) in ("&", "->", ".", "size_t"):
            continue
        if region.text(i - 1) in (",", "(", "=", "-", "+", "*") and region.text(i + 1) != ".":
            yield token.at, token.end, f"(size_t)(int){token.text}"


def swap_arguments(region: Region, context: Context) -> Iterator[Change]:
    """Two that stand beside each other or have one between them."""
    for _, _, given in calls(region):
        for k, (a, b) in enumerate(given):
            for c, d in given[k + 1 : k + 3]:
                one = context.source[region.tokens[a].at : region.tokens[b].end]
                two = context.source[region.tokens[c].at : region.tokens[d].end]
                between = context.source[region.tokens[b].end : region.tokens[c].at]
                if one != two and _same_kind(one, two):
                    yield region.tokens[a].at, region.tokens[d].end, two + between + one


def _same_kind(one: str, two: str) -> bool:
    """No address for a value, no constant of a header for a variable: that is no program."""

    def kind(text: str) -> str:
        return "&" if text[0] in "&({" else "A" if re.fullmatch(r"[A-Z][A-Z0-9_]+", text) else "a"

    return kind(one) == kind(two)


def skip_call(region: Region, context: Context) -> Iterator[Change]:
    """A call of CUDA or of a function with a result is left out and taken to have gone well."""
    for name, last, _ in calls(region):
        text = region.text(name)
        good = {"cuda": "cudaSuccess"}.get(text[:4]) or ("CUDA_SUCCESS" if _is_driver(text) else "")
        if text in context.results and not text.endswith("_result"):
            good = "LAB_OK"
        if good and not is_type_word(region, name - 1):
            yield region.tokens[name].at, region.tokens[last].end, good


def _is_driver(name: str) -> bool:
    return name.startswith("cu") and name[2:3].isupper()


def replace_name(region: Region, context: Context) -> Iterator[Change]:
    """A variable by others of its type in the passage; an enumerator or a result by another."""
    names = {token.text for token in region.tokens if token.text in context.types}
    for i, token in enumerate(region.tokens):
        if token.text in context.enums:
            yield token.at, token.end, context.enums[token.text]
        if token.text not in names or region.text(i - 1) in ("->", "."):
            continue
        kind = context.types[token.text]
        others = [one for one in sorted(names) if one != token.text and context.types[one] == kind]
        if not _is_declared(region, i):
            for other in _near(others, token.text):
                yield token.at, token.end, other


def _is_declared(region: Region, i: int) -> bool:
    before = region.text(i - 1)
    named = bool(before) and (before[0].isalpha() or before[0] == "_") and before != "return"
    return named or (before == "*" and region.text(i - 2) in ("void", "char", "int", "float"))


def _near(others: list[str], name: str) -> list[str]:
    """Two at most, those behind it in the alphabet first, so that files stay stable."""
    behind = [other for other in others if other > name]
    return (behind + [other for other in others if other < name])[:2]


def replace_field(region: Region, context: Context) -> Iterator[Change]:
    """A field by another of its type: the event of the other half, the other GPU of the pair."""
    for i, token in enumerate(region.tokens):
        if region.text(i - 1) in ("->", ".") and token.text in context.fields:
            for other in _near(context.fields[token.text], token.text):
                yield token.at, token.end, other


def use_default(region: Region, context: Context) -> Iterator[Change]:
    """The stream and the GPU that a program gets unless it says otherwise."""
    given = [(name, one) for name, _, all_given in calls(region) for one in all_given]
    given += [(-1, one) for one in in_launch(region)[3:]]
    for name, (first, last) in given:
        is_stream = region.text(last) in context.streams and region.text(first) != "&"
        if is_stream or region.text(name) == "cudaSetDevice":
            yield region.tokens[first].at, region.tokens[last].end, "0"


def lose_result(region: Region, context: Context) -> Iterator[Change]:
    for i, token in enumerate(region.tokens):
        is_returned = region.text(i - 1) == "return" and region.text(i + 1) == ";"
        if is_returned and context.types.get(token.text) == "int":
            yield token.at, token.end, "LAB_OK"


def move_jump(region: Region, context: Context) -> Iterator[Change]:
    """A conditional return, break or continue changes places with its neighbour statement."""
    simple = dict(statements(region))
    ends = {last: first for first, last in simple.items()}
    for i, token in enumerate(region.tokens):
        if token.text != "if" or i + 1 not in region.close or region.text(i - 1) == "else":
            continue
        jump = region.close[i + 1] + 1
        last = region.forward(jump, {";"})
        if region.text(jump) not in ("return", "break", "continue"):
            continue
        before, behind = ends.get(i - 1, -1), simple.get(last + 1, -1)
        if before >= 0 and region.text(before - 1) in (";", "{", "}", ""):
            yield _exchanged(region, context, (before, i - 1), (i, last))
        if behind >= 0 and region.text(last + 1) not in ("return", "break", "continue"):
            yield _exchanged(region, context, (i, last), (last + 1, behind))


def _exchanged(
    region: Region, context: Context, one: tuple[int, int], two: tuple[int, int]
) -> Change:
    begin, end = region.tokens[one[0]].at, region.tokens[two[1]].end
    first = context.source[begin : region.tokens[one[1]].end]
    second = context.source[region.tokens[two[0]].at : end]
    return begin, end, f"{second} {first}"


def leave_loop(region: Region, context: Context) -> Iterator[Change]:
    other = {"break": "continue", "continue": "break"}
    for token in region.tokens:
        if token.text in other:
            yield token.at, token.end, other[token.text]


OPERATORS: tuple[Callable[[Region, Context], Iterator[Change]], ...] = (
    delete_statement,
    change_condition,
    swap_branches,
    drop_operand,
    replace_operator,
    drop_negation,
    change_constant,
    off_by_one,
    narrow_type,
    narrow_value,
    swap_arguments,
    skip_call,
    replace_name,
    replace_field,
    use_default,
    lose_result,
    move_jump,
    leave_loop,
)
