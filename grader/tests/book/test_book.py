# SPDX-License-Identifier: MIT
"""grader.book: missing parts of a page are errors; wrong outputs, links, chapters and lists are
found."""

import hashlib
import html
import json
import shutil
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.base.exits import LabError
from grader.book import (
    bandwidth,
    chapters,
    charts,
    code,
    commands,
    figures,
    links,
    nodes,
    outside,
    pages,
    recorded,
    seeds,
    shown,
)
from grader.course.project import Project, here
from grader.selfcheck.lacking import needs
from grader.tests.fake import FakeCheckout

SOURCE = "#include <stdio.h>\n    // book: half\n    if (x)\n        y();\n    // book: end\nz();\n"
SHA256 = hashlib.sha256(b"print(1)\n").hexdigest()
PAGE = """\
Text.

```console
$ printf 'one\\ntwo\\n'
one
two
$ NAME=3 ./show
```
"""
CHAPTER = """\
# Title

**Time** 5 minutes · **You need** nothing · **Lab** 01

> **Why?**

![Two words](figures/a.dot)

<!-- code: docs/book/code/a.cu#part -->

Short.

## What goes wrong

## The lab

## Questions

??? question "A?"

??? question "B?"

??? question "C?"

## Exercises

<details><summary>Solution</summary>

$ ./a
</details>

<details><summary>Solution</summary>

$ ./a
</details>
"""


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Code(Folder):
    def test_a_part_is_moved_to_the_left(self) -> None:
        self.write("a.c", SOURCE)
        shown = code.include(self.root, "p.md", "<!-- code: a.c#half -->\n")
        self.assertEqual(shown, '```c title="a.c"\nif (x)\n    y();\n```\n')

    def test_the_whole_has_no_marks(self) -> None:
        self.assertEqual(code.part_of(SOURCE, "").count("book:"), 0)
        self.assertIn("z();", code.part_of(SOURCE, ""))

    def test_what_is_not_there_is_an_error(self) -> None:
        self.write("a.c", SOURCE)
        for line in ("<!-- code: b.c -->", "<!-- code: a.c#whole -->"):
            with self.assertRaisesRegex(LabError, "there is no"):
                code.include(self.root, "p.md", line)

    def test_what_labs_pages_show_is_compiled(self) -> None:
        self.write("s/a.c", "    (void)cudaFree(x);  // why\n")
        known = code.compiled([self.root / "s"])
        page = "```c\ncudaFree(x);\n    cudaFree(y); /* no */\n```\n```text\nz\n```\n"
        self.assertEqual(code.unknown(page, known), ["cudaFree(y); /* no */"])


class Figures(Folder):
    def draw(self, page: str) -> str:
        return figures.draw(Project(self.root), self.root, "p.md", page)

    @needs(shutil.which("dot"), "no Graphviz here")
    def test_a_figure_is_drawn_with_its_words(self) -> None:
        self.write("f/a.dot", "digraph g { a -> b }")
        shown = self.draw("![a to <b>](f/a.dot)")
        self.assertIn("<title>a to &lt;b&gt;</title>", shown)
        self.assertIn("currentColor", shown)

    def test_a_figure_without_words_is_an_error(self) -> None:
        self.write("f/a.dot", "digraph g { a -> b }")
        with self.assertRaisesRegex(LabError, "no text"):
            self.draw("![](f/a.dot)")

    @needs(shutil.which("dot"), "no Graphviz here")
    def test_rooms_are_drawn_from_the_build(self) -> None:
        self.write("f/rooms-cc.dot", "digraph g { kept }")
        self.assertIn("kept", self.draw("![the rooms](f/rooms-cc.svg)"))
        self.write("build/vgpu/rooms.json", "[]")
        self.write("tests/suite/rooms.py", "import sys; print('digraph g {', sys.argv[3], '}')")
        shown = self.draw("![the rooms](f/rooms-cc.svg)")
        self.assertIn(">cc<", shown)
        self.assertNotIn("kept", shown)
        self.write("tests/suite/rooms.py", "print('not built'); raise SystemExit(1)")
        self.assertIn("kept", self.draw("![the rooms](f/rooms-cc.svg)"))


class Charts(Folder):
    TIMING = "      1024       2.0  2 3 4 5 1.0 |\n   1048576      20.0  2 3 4 5 4.0 |\n"

    def test_rates_by_size(self) -> None:
        points = bandwidth.recorded(self.TIMING, 0)
        self.assertEqual(points, [(1024, 0.512), (1048576, 52.4288)])
        model = dict(bandwidth.modelled(points))
        self.assertAlmostEqual(model[1024], 0.512, delta=0.01)
        self.assertLess(model[2.0**20], 52.4288)
        self.assertEqual(max(model), 2.0**20, "a model goes no further than the data")

    def test_a_chart_needs_its_data(self) -> None:
        self.write(bandwidth.RECORDED, self.TIMING)
        shown = charts.insert(self.root, "p.md", "<!-- chart: bandwidth -->")
        self.assertEqual(shown.count("<polyline"), 8 + 1, "the last one is the legend's")
        self.assertIn("<title>Bandwidth over size", shown)
        self.write(bandwidth.RECORDED, "nothing\n")
        with self.assertRaisesRegex(LabError, "has no table"):
            charts.insert(self.root, "p.md", "<!-- chart: bandwidth -->")
        with self.assertRaisesRegex(LabError, "asks for the chart latency"):
            charts.insert(self.root, "p.md", "<!-- chart: latency -->")


class Configuration(unittest.TestCase):
    NAMES = ("stage", "reduce_bucket_size", "overlap_comm", "offload_optimizer")

    def test_deepspeeds_is_json_with_its_names(self) -> None:
        """The names of DeepSpeedZeroConfig (deepspeed/runtime/zero/config.py)."""
        place = here().root / "docs/book/code/deepspeed.json"
        given = json.loads(place.read_text(encoding="utf-8"))["zero_optimization"]
        self.assertEqual(tuple(given), self.NAMES)
        self.assertIn(given["stage"], range(4))


class Commands(Folder):
    def test_commands_and_outputs(self) -> None:
        first, second = commands.shown_in(PAGE)
        self.assertEqual((first.output, second.output), ("one\ntwo", ""))
        self.write("show", "#!/bin/sh\necho $NAME\n").chmod(0o755)
        path = commands.search_path(self.root)
        got = [commands.printed(s.command, self.root, path, "x") for s in (first, second)]
        self.assertEqual(got, ["one\ntwo", "3"])
        self.assertEqual(commands.differences(first, got[0]), "")
        self.assertIn("+3", commands.differences(second, got[1]))
        self.assertIn("$ NAME=3 ./show\n3\n```", commands.with_outputs(PAGE, got))

    def test_another_clang_may_print_other_figures_and_nothing_else(self) -> None:
        shown = commands.Shown("./batch", "3 rows  9.95 us\nsent    17.8 us")
        self.assertEqual((commands.slack(commands.CLANG), commands.slack(18)), (0, commands.SLACK))
        for output, right in (
            ("3 rows  9.95 us\nsent    17.7 us", True),
            ("3 rows  10.12 us\nsent   17.9 us", True),
            ("3 rows  9.95 us\nsent    18.4 us", False),
            ("4 rows  9.95 us\nsent    17.8 us", False),
            ("3 rows  9.95 us\nsent    17.8 ms", False),
            ("3 rows  9.95 us", False),
        ):
            with self.subTest(output=output):
                self.assertEqual(commands.differences(shown, output, commands.SLACK) == "", right)
                self.assertNotEqual(commands.differences(shown, output), "")

    def test_a_status_is_part_of_what_is_printed(self) -> None:
        self.assertEqual(commands.printed("false", self.root, "/bin:/usr/bin", "x"), "(status 1)")


class Shown(FakeCheckout):
    PAGE = (
        "```text\n$ a | b\none\n$ c\n```\n\n    cmake --preset x   # why\n    words, words\n\n"
        "```c\n./lab no\n```\n\n```\nctest -R lab01\nno command\n```\n"
    )

    def test_commands_of_a_page(self) -> None:
        found = shown.commands_of("p.md", self.PAGE)
        seen = [(one.command, one.output) for one in found]
        wanted = [("a | b", "one"), ("c", ""), ("ctest -R lab01", None), ("cmake --preset x", None)]
        self.assertEqual(seen, wanted)

    def problems(self, *, output: str = "", **change: str) -> str:
        for name in shown.MORE:
            self.write(name, "")
        self.write("docs/book/index.md", "")
        self.write("docs/a.md", f"```\n$ run\n{output}```\n")
        entry = {"page": "docs/a.md", "command": "run", "by": "test:a.b", **change}
        self.write("docs/commands.json", json.dumps([entry]))
        return "\n".join(shown.problems(self.project, {"a.b"}))

    def test_each_is_run_by_something(self) -> None:
        self.assertEqual(self.problems(), "")
        self.assertIn("not a way to run it", self.problems(by="not: it needs two real GPUs"))
        self.assertIn("nothing runs `run`", self.problems(command="walk"))
        self.assertIn("shows no `walk`", self.problems(command="walk"))
        self.assertIn("there is no test c.d", self.problems(by="test:c.d"))
        self.assertEqual(self.problems(by="recorded: docs/a.md"), "")
        self.assertIn("there is no file docs/b", self.problems(by="recorded: docs/b"))
        self.assertEqual(self.problems(by="ci"), "")  # handouts have no .ci/run
        self.write(".ci/run", "step 'x' type_shown nvcc\n")
        self.assertIn("does not type", self.problems(by="ci"))
        self.write(".ci/run", "step 'x' type_shown ci\n")
        self.assertEqual(self.problems(by="ci"), "")

    def test_what_was_recorded_is_what_is_shown(self) -> None:
        self.write("r.txt", "$ run\n  T1 ms   0.4\n  T2 ms   0.5\n")
        self.assertEqual(self.problems(output="T1 ms 0.4\n...\n", by="recorded: r.txt"), "")
        wrong = self.problems(output="T1 ms 0.3\n", by="recorded: r.txt")
        self.assertIn("r.txt has no line 'T1 ms 0.3'", wrong)


class Outside(FakeCheckout):
    def problems(self, **change: str) -> str:
        for name in shown.MORE:
            self.write(name, "")
        self.write("docs/book/index.md", "[a](https://a.example/x)\n")
        entry = {"url": "https://a.example/x", "date": "2026-11-21", "status": "copy", **change}
        self.write("docs/links.json", json.dumps([entry]))
        return "\n".join(outside.problems(self.project))

    def test_links_and_the_list_agree(self) -> None:
        self.assertEqual(self.problems(), "")
        self.assertIn("is not in docs/links.json", self.problems(url="https://b.example"))
        self.assertIn("no page leads to", self.problems(url="https://b.example"))
        self.assertIn("'404'", self.problems(status="404"))
        self.assertIn("'today'", self.problems(date="today"))
        self.assertIn("was never seen", self.problems(status="unseen"))
        self.assertIn("if, and only if, its status is `named`", self.problems(status="named"))
        self.assertEqual(self.problems(status="named", by="https://b.example"), "")


class Nodes(Folder):
    def test_the_calculator_gets_the_machines(self) -> None:
        """The link between GPUs 0 and 1 is the one that joins them, not the machine's best."""
        shown_ = nodes.insert(here().root, nodes.CALCULATOR)
        rates = json.loads(html.unescape(shown_.split('data-nodes="')[1].split('"')[0]))
        by_name = {entry["name"]: entry for entry in rates}
        self.assertNotIn("single", by_name)
        self.assertAlmostEqual(by_name["dgx1-v100"]["link"], 23.95)
        self.assertFalse(by_name["pcie-4090-2"]["peer"])
        self.assertEqual(by_name["hgx-h200-4"]["link"], 395.4)

    @needs(shutil.which("dot"), "no Graphviz here")
    def test_a_picture_of_a_machine_is_drawn_anew(self) -> None:
        shown_ = nodes.insert(
            here().root, "![eight GPUs](figures/dgx1-v100.svg)\n![x](figures/y.svg)"
        )
        self.assertIn("<title>eight GPUs</title>", shown_)
        self.assertIn("![x](figures/y.svg)", shown_)


class Links(Folder):
    def test_links_that_lead_nowhere(self) -> None:
        self.write("a.html", '<p id="x"><a href="b.html#y">b</a><a href="#x">here</a>')
        self.write("b.html", '<a href="c.html">c</a><a href="https://example.org">out</a>')
        found = links.broken(self.root)
        self.assertEqual(len(found), 2, found)
        self.assertIn("without #y", found[0])
        self.assertIn("c.html leads to no file", found[1])

    def test_markdown_that_a_reader_would_see(self) -> None:
        self.write("a.html", "<p>bus{: .term }</p><svg><title>a [b](c.md)</title></svg>")
        self.write("b.html", "<p>a</p><pre><code>x[i](j) {: }</code></pre><!-- code: x -->")
        self.assertEqual(len(links.broken(self.root)), 2)

    def test_nothing_comes_from_the_network(self) -> None:
        self.write("a.html", '<script src="https://cdn.example/x.js"></script>')
        self.assertIn("from the network", links.broken(self.root)[0])


class Chapters(Folder):
    def problems(self, text: str) -> str:
        return "\n".join(chapters.problems(self.write("01-a.md", text)))

    def test_a_whole_chapter(self) -> None:
        self.assertEqual(self.problems(CHAPTER), "")

    def test_what_a_chapter_lacks(self) -> None:
        for cut, why in (
            ("**Time** 5 minutes", "Time"),
            ("> **Why?**", "a question to begin with"),
            ("![Two words](figures/a.dot)", "a figure"),
            ("<!-- code: docs/book/code/a.cu#part -->", "a companion in C or CUDA"),
            ('??? question "C?"', "2 questions"),
            ("## What goes wrong", "What goes wrong"),
            ("## Exercises", "Exercises"),
            ("<summary>Solution</summary>", "0 exercises"),
            ("$ ./a", "shows no command"),
        ):
            with self.subTest(why):
                self.assertIn(why, self.problems(CHAPTER.replace(cut, "")))

    def test_hard_words_are_warned_of(self) -> None:
        easy = self.write("01-a.md", CHAPTER + "The cat sat on the mat. It was a good cat.\n")
        self.assertEqual(chapters.warnings(easy), [])
        hard = "Heterogeneous interconnect topologies necessitate sophisticated synchronisation.\n"
        (warned,) = chapters.warnings(self.write("01-a.md", CHAPTER + "\n" + hard * 9))
        self.assertIn("of school", warned)

    def test_long_sentences(self) -> None:
        self.assertIn("46 words", self.problems(CHAPTER.replace("Short.", "so " * 45 + "long.")))

    def test_a_sentence_that_begins_with_a_number_is_no_item(self) -> None:
        whole = "1. One\n\n   1. below\n   2. it\n\n2. Two\n\nText.\n\n1. New\n\n```\n9. x\n```\n"
        self.assertEqual(chapters.misnumbered(whole), [])
        for wrong in (
            "18. It takes 4 bytes.\n",
            "1. One\n3. Three\n",
            "1. One\n\nText.\n\n2. Two\n",
        ):
            with self.subTest(wrong):
                self.assertEqual(len(chapters.misnumbered(wrong)), 1)


class Pages(FakeCheckout):
    def test_labs_and_chapters_are_linked(self) -> None:
        self.write("docs/book/01-a.md", "See [the lab](../../labs/01-tiny/README.md).\n")
        self.write(
            "docs/book/02-b.md", "As chapter 1 and chapter 9 say, `chapter 1`. [x](../no.md)\n"
        )
        self.write("docs/book/index.md", "[a](../../lab.txt)\n")
        self.write("lab.txt", "")
        made = {page.place: page for page in pages.pages(self.project)}
        first = pages.render(self.project, made["book/01-a.md"])
        self.assertEqual(first, "See [the lab](../labs/01-tiny/index.md).\n")
        self.assertEqual(pages.render(self.project, made["index.md"]), "a (`lab.txt`)\n")
        with self.assertRaisesRegex(LabError, "leads to nothing"):
            pages.render(self.project, made["book/02-b.md"])

    def test_the_menu_has_groups_for_readers(self) -> None:
        for name in ("glossary", "instructors", "style", "book/01-a", "diagnoses/1"):
            self.write(f"docs/{name}.md", "A.\n")
        menu: dict[str, object] = {}
        for group in pages.navigation(self.project):
            menu |= group  # type: ignore[operator]
        self.assertEqual(menu["Reference"], ["glossary.md"])
        self.assertEqual(menu["For instructors"], ["instructors.md"])
        self.assertEqual(menu["For maintainers"], ["style.md"])

    def test_the_first_chapter_is_number_0(self) -> None:
        self.write("docs/book/00-z.md", "# Zero\n")
        self.write("docs/book/01-a.md", "# A\n\nAs chapter 0 says.\n")
        made = {page.place: page for page in pages.pages(self.project)}
        self.assertEqual(pages.render(self.project, made["book/00-z.md"]), "# 0. Zero\n")
        shown = pages.render(self.project, made["book/01-a.md"])
        self.assertEqual(shown, "# 1. A\n\nAs [chapter 0](00-z.md) says.\n")

    def test_chapters_by_number(self) -> None:
        self.write("docs/book/01-a.md", "A.\n")
        self.write("docs/book/02-b.md", "As chapter 1 and chapter 9 say.\n")
        made = {page.place: page for page in pages.pages(self.project)}
        shown = pages.render(self.project, made["book/02-b.md"])
        self.assertEqual(shown, "As [chapter 1](01-a.md) and chapter 9 say.\n")


class Recorded(Folder):
    def record(self, **entry: str) -> None:
        whole = {
            "file": "real/a.py",
            "sha256": SHA256,
            "command": "python3 a.py",
            "machine": "a GPU",
        }
        whole |= {"date": "2026-11-21", "output": "1", **entry}
        self.write("docs/book/real/recorded.json", json.dumps([whole]))

    def test_a_companion_that_changed(self) -> None:
        self.write("docs/book/real/a.py", "print(1)\n")
        self.record()
        self.assertEqual(recorded.problems(self.root), [])
        self.write("docs/book/real/a.py", "print(2)\n")
        self.assertIn("changed after its recording", recorded.problems(self.root)[0])
        self.record(file="code/b.py")
        found = recorded.problems(self.root)
        self.assertIn("b.py was recorded and is not there", found[0])
        self.assertIn("never recorded", found[1])

    def test_a_change_that_cannot_matter_is_told(self) -> None:
        self.write("docs/book/real/a.py", "print(1)  # one\n")
        now = hashlib.sha256(b"print(1)  # one\n").hexdigest()
        self.record(since="A comment was added.", sha256_since=now)
        self.assertEqual(recorded.problems(self.root), [])
        shown = recorded.insert(self.root, "p.md", "<!-- recorded: real/a.py -->\n")
        self.assertIn("a GPU. A comment was added.", shown)
        self.write("docs/book/real/a.py", "print(2)  # two\n")
        self.assertIn("changed after its recording", recorded.problems(self.root)[0])

    def test_a_page_shows_it(self) -> None:
        self.record()
        shown = recorded.insert(self.root, "p.md", "<!-- recorded: real/a.py -->\n")
        self.assertIn("$ python3 a.py\n1\n```", shown)
        with self.assertRaisesRegex(LabError, "there is none"):
            recorded.insert(self.root, "p.md", "<!-- recorded: c.py -->")


class Seeds(Folder):
    def found(self, **row: object) -> list[str]:
        whole = {"row": "r", "where": "w", "ran": [], "open": "", **row}
        self.write("docs/seeds.json", json.dumps({"rows": [whole], "corrections": []}))
        return seeds.problems(self.root, {"a.b"})

    def test_rows(self) -> None:
        self.write("docs/p.md", PAGE)
        self.assertEqual(self.found(ran=["test:a.b", "page:docs/p.md#./show"]), [])
        self.assertEqual(self.found(open="to do"), [])
        self.assertIn("names nothing", self.found()[0])
        for name in ("test:a.c", "page:docs/q.md#./show", "page:docs/p.md#./other", "a.b"):
            self.assertEqual(self.found(ran=[name]), [f"r: there is no {name}"])

    def test_corrections_stand_once_in_their_chapter(self) -> None:
        entry = {"number": 1, "said": "", "true": "", "how": "", "chapter": "01-a.md", "open": ""}
        self.write("docs/seeds.json", json.dumps({"rows": [], "corrections": [entry]}))
        self.assertIn("there is no chapter", seeds.problems(self.root, set())[0])
        self.write("docs/book/01-a.md", "A.\n")
        self.assertIn("0 times", seeds.problems(self.root, set())[0])
        self.write("docs/book/01-a.md", "A.\n\n<!-- correction: 1 -->\n")
        self.assertEqual(seeds.problems(self.root, set()), [])


if __name__ == "__main__":
    unittest.main()
