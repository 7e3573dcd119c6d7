# SPDX-License-Identifier: MIT
"""A learner's file as tokens: what stands in its solution passages, and in which function.

Enough of C for mutations, and no more: brackets are matched, statements and calls are found. A
mutant that this gets wrong does not compile, and is not counted.
"""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*   # passed over
      |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
      |[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?[fFuUlL]*
      |<<<|>>>|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_TODO = re.compile(r"// TODO\((\d+)\)[:,]")
_MENTION = re.compile(r"\bTODO\((\d+)\)")  # also "as TODO(2)", "the kernel of TODO(2) goes here"
_HELPER = re.compile(r"^static\b[^;={]*?(\w+)\(", re.MULTILINE)
_BEGIN, _END = "// BEGIN SOLUTION", "// END SOLUTION"
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_TYPE_WORDS = {
    *("const", "static", "struct", "unsigned", "int", "char", "void", "long", "short", "float"),
    *("double", "enum", "union", "volatile", "extern", "size_t", "ssize_t", "int64_t", "uint64_t"),
    *("uint32_t", "int32_t", "uint8_t", "bool", "__shared__", "typedef"),
}


@dataclass(frozen=True)
class Token:
    text: str
    at: int  # where in the file it begins

    @property
    def end(self) -> int:
        return self.at + len(self.text)

    @property
    def is_name(self) -> bool:
        return self.text[0].isalpha() or self.text[0] == "_"

    @property
    def is_operand(self) -> bool:
        """An expression can end with it."""
        return self.is_name or self.text[0].isdigit() or self.text in (")", "]")


@dataclass
class Region:
    """The tokens of one passage between BEGIN SOLUTION and END SOLUTION."""

    tokens: list[Token]
    todos: frozenset[int]  # whose answer it is; of a helper, those of the functions that call it
    close: dict[int, int] = field(default_factory=dict)  # index of ( [ { -> index of its partner

    def __post_init__(self) -> None:
        stack: list[int] = []
        for i, token in enumerate(self.tokens):
            if token.text in _PAIRS:
                stack.append(i)
            elif stack and token.text == _PAIRS[self.tokens[stack[-1]].text]:
                self.close[stack.pop()] = i

    def forward(self, i: int, stops: set[str]) -> int:
        """The first token behind i that is one of `stops` or closes a bracket around i."""
        i += 1
        while i < len(self.tokens) and self.text(i) not in stops and self.text(i) not in ")]}":
            i = self.close.get(i, i) + 1
        return i

    def backward(self, i: int, stops: set[str]) -> int:
        """The last token before i that is one of `stops` or opens a bracket around i; or -1."""
        opening = {close: opener for opener, close in self.close.items()}
        i -= 1
        while i >= 0 and self.text(i) not in stops and self.text(i) not in "([{":
            i = opening.get(i, i) - 1
        return i

    def text(self, i: int) -> str:
        """The token's text; empty outside the passage."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""


def regions(source: str) -> list[Region]:
    """The solution passages of a file, in order."""
    spans = [
        (begin.start(), source.index(_END, begin.start())) for begin in re.finditer(_BEGIN, source)
    ]
    return [
        Region(tokens_of(source, begin, end), _todos_of(source, spans, begin, end))
        for begin, end in spans
    ]


def _todos_of(source: str, spans: list[tuple[int, int]], begin: int, end: int) -> frozenset[int]:
    """Of the comment above the passage in the same function; of helpers, those of their callers, or
    what the comment above them mentions."""
    function = max(source.rfind("\n}\n", 0, begin), source.rfind(_END, 0, begin), 0)
    above = _TODO.findall(source, function, begin)
    if above:
        return frozenset({int(above[-1])})
    names = "|".join(_HELPER.findall(source, begin, end))
    callers = [
        span
        for span in spans
        if names and span[0] != begin and re.search(rf"\b({names})\b", source[slice(*span)])
    ]
    behind = [span for span in callers if span[0] > begin]  # C wants a helper above its callers
    mention = frozenset(map(int, _MENTION.findall(source, function, begin)[-1:]))
    return frozenset().union(*(_todos_of(source, spans, *span) for span in behind)) or mention


def tokens_of(source: str, begin: int, end: int) -> list[Token]:
    return [
        Token(match[0], match.start())
        for match in _TOKEN.finditer(source, begin, end)
        if not match[0].startswith(("//", "/*")) and not match[0].lstrip().startswith("#")
    ]


def statements(region: Region) -> list[tuple[int, int]]:
    """Statements that end with a semicolon and declare nothing: first and last token."""
    found = []
    for i in range(len(region.tokens)):
        if not starts_statement(region, i) or declares(region, i):
            continue
        end = _semicolon(region, i)
        if end > i:
            found.append((i, end))
    return found


def starts_statement(region: Region, i: int) -> bool:
    if region.text(i) in ("{", "}", ";", ")", "if", "for", "while", "do", "else", "switch"):
        return False
    before = region.text(i - 1)
    if before in (";", "{", "}", "else", "do"):
        return not _in_brackets(region, i)
    if before != ")":
        return False
    opening = next((o for o, c in region.close.items() if c == i - 1), -1)
    return region.text(opening - 1) in ("if", "for", "while")


def _in_brackets(region: Region, i: int) -> bool:
    """Inside ( ) or [ ]: a semicolon there is a for's."""
    return any(o < i < c and region.text(o) in "([" for o, c in region.close.items())


def declares(region: Region, i: int) -> bool:
    first, second, third = (region.text(i + k) for k in range(3))
    if first in _TYPE_WORDS:
        return True
    if not first or not (first[0].isalpha() or first[0] == "_") or first == "return":
        return False
    if first in ("goto", "case", "default"):
        return True
    if second and (second[0].isalpha() or second[0] == "_"):
        return True
    pointer = second == "*" and bool(third) and third[0].isalpha()
    return pointer and region.text(i + 3) in ("=", ";", ",")


def is_type_word(region: Region, i: int) -> bool:
    return region.text(i) in _TYPE_WORDS or region.text(i - 1) in ("struct", "enum", "union")


def in_launch(region: Region) -> list[tuple[int, int]]:
    """The arguments between <<< and >>> of every launch."""
    found = []
    for i, token in enumerate(region.tokens):
        if token.text == "<<<":
            end = region.forward(i, {">>>"})
            found += _separated(region, i + 1, end)
    return found


def _semicolon(region: Region, i: int) -> int:
    """The index of the semicolon that ends the statement at i; -1: there is none."""
    while i < len(region.tokens):
        if i in region.close:
            if region.text(i) == "{" and region.text(i - 1) not in (")", "="):
                return -1
            i = region.close[i]
        elif region.text(i) == ";":
            return i
        elif region.text(i) in "}":
            return -1
        i += 1
    return -1


def calls(region: Region) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Index of the name, of the closing bracket, and of each argument's first and last token."""
    found = []
    for i, token in enumerate(region.tokens):
        if not token.is_name or region.text(i + 1) != "(" or i + 1 not in region.close:
            continue
        if token.text in ("if", "for", "while", "switch", "sizeof", "return", "defined"):
            continue
        found.append((i, region.close[i + 1], arguments(region, i + 1)))
    return found


def arguments(region: Region, opening: int) -> list[tuple[int, int]]:
    return _separated(region, opening + 1, region.close[opening])


def _separated(region: Region, first: int, end: int) -> list[tuple[int, int]]:
    """What stands between commas from `first` to before `end`."""
    found = []
    i = first
    while i < end:
        if i in region.close:
            i = region.close[i]
        elif region.text(i) == ",":
            found.append((first, i - 1))
            first = i + 1
        i += 1
    if first < end:
        found.append((first, end - 1))
    return found
