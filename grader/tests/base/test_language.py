# SPDX-License-Identifier: MIT
"""base.language: one file has every message of ./lab to learners; translations work."""

import ast
import contextlib
import fnmatch
import io
import json
import os
import re
import string
import unittest
from pathlib import Path
from unittest import mock

from grader.base import language
from grader.base.exits import LabError
from grader.commands import cli
from grader.course.sync import sync
from grader.tests.fake import FakeCheckout

PACKAGE = Path(language.__file__).parents[1]
ENGLISH = language.read(language.FOLDER / "en.json")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def keys_of(argument: ast.expr) -> list[str]:
    """The keys in an argument of say(): a text, one of two, or one made of parts (its first, and
    "*")."""
    match argument:
        case ast.Constant(value=str(key)):
            return [key]
        case ast.IfExp(body=one, orelse=other):
            return keys_of(one) + keys_of(other)
        case ast.JoinedStr(values=[ast.Constant(value=str(first)), *_]):
            return [f"{first}*"]
    raise AssertionError(f"say() is called with what nobody can look up: {ast.unparse(argument)}")


def asked() -> set[str]:
    """The keys in the sources that use language.say."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^from grader.base.language import .*\bsay\b", text, re.MULTILINE):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "say":
                    found |= set(keys_of(node.args[0]))
    return found


class Sentences(unittest.TestCase):
    def test_every_sentence_asked_for_is_there_and_every_one_there_is_asked_for(self) -> None:
        wanted = asked()
        self.assertGreater(len(wanted), 40)
        unknown = [key for key in wanted if not fnmatch.filter(ENGLISH, key)]
        self.assertEqual(unknown, [])
        unused = [key for key in ENGLISH if not any(fnmatch.fnmatch(key, one) for one in wanted)]
        self.assertEqual(unused, [])

    def test_translations_know_no_other_keys_and_fill_in_the_same(self) -> None:
        for path in language.FOLDER.glob("*.json"):
            for key, text in language.read(path).items():
                with self.subTest(f"{path.stem}: {key}"):
                    self.assertEqual(fields(text), fields(ENGLISH[key]))

    def test_what_is_not_translated_is_listed(self) -> None:
        for path in language.FOLDER.glob("*.json"):
            missing = sorted(set(ENGLISH) - set(language.read(path)))
            if missing:
                print(f"{path.name}: not translated: {', '.join(missing)}")
        self.assertEqual(list(ENGLISH), sorted(ENGLISH), "en.json is sorted: keys are found in it")


class Pseudo(FakeCheckout):
    """A translation that puts every message in brackets: text without brackets was never looked
    up."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(language.use, "en")
        environment = mock.patch.dict(os.environ, {"LC_ALL": "C"})
        environment.start()
        self.addCleanup(environment.stop)

    def translated(self, texts: dict[str, str]) -> None:
        language.use(str(self.write("xx.json", json.dumps(texts))))

    def test_a_missing_sentence_is_said_in_english(self) -> None:
        self.translated({"whole-lab": "das Ganze"})
        self.assertEqual(language.say("whole-lab"), "das Ganze")
        self.assertEqual(language.say("verdict.pass"), "passed")

    def test_words_may_stand_in_another_order(self) -> None:
        self.translated({"board.points": "von {possible} Punkten {points}"})
        self.assertEqual(language.say("board.points", points=1, possible=2), "von 2 Punkten 1")

    def test_the_environment_chooses_and_english_is_left(self) -> None:
        with mock.patch.object(language, "FOLDER", self.root):
            self.write("de.json", '{"whole-lab": "das Ganze"}')
            for value, said in (("de_DE.UTF-8", "das Ganze"), ("fr_FR", "whole lab")):
                with self.subTest(value), mock.patch.dict(os.environ, {"LC_ALL": value}):
                    language.use()
                    self.assertEqual(language.say("whole-lab"), said)

    def test_whatever_the_front_door_says_comes_from_the_file(self) -> None:
        """Every message is in brackets: a line without any was never looked up."""
        sync(self.project, [self.lab])
        marked = {
            key: "\n".join(f"[{line}]" if line.strip() else line for line in text.split("\n"))
            for key, text in ENGLISH.items()
        }
        here = str(self.write("xx.json", json.dumps(marked)))
        for words in (
            ("list",),
            ("--plain", "list"),
            ("status",),
            ("test", "01"),
            ("test", "09"),
            ("watch", "09"),
            ("debug", "01.a"),
            ("reset", "01"),
            ("submit", "01"),
            ("solution", "01"),
            ("explain", "nonsense"),
            ("hint", "01"),
            ("hint", "01.9"),
            ("hint", "01", "1", "9"),
        ):
            said = io.StringIO()
            with (
                self.subTest(words),
                mock.patch.object(cli, "here", return_value=self.project),
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(said),
            ):
                cli.main(["--language", here, *words])
                lines = [line for line in said.getvalue().splitlines() if line.strip()]
                self.assertTrue(lines)
                self.assertEqual([line for line in lines if "[" not in line], [])

    def test_no_such_language_and_no_such_file(self) -> None:
        self.write("broken.json", "{")
        self.write("list.json", "[1]")
        for wanted in ("xx", str(self.root / "gone.json"), str(self.root / "broken.json")):
            with self.subTest(wanted), self.assertRaises(LabError):
                language.use(wanted)
        with self.assertRaisesRegex(LabError, "keys and texts"):
            language.use(str(self.root / "list.json"))


if __name__ == "__main__":
    unittest.main()
