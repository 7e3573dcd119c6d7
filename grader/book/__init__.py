# SPDX-License-Identifier: MIT
"""`./lab docs`: the book as a static site.

The sources are Markdown below docs/, and nothing in them is pasted: code comes from files that
tests compile and run (`code.py`), figures from Graphviz (`figures.py`), from data or from schedules
that are worked out (`charts.py`), what a terminal shows from commands that a test types
(`commands.py` in chapters, `shown.py` everywhere else), pages of labs from their READMEs
(`pages.py`), tables from data (`seeds.py`), where numbers come from out of a list (`numbers.py`),
terms out of the glossary (`glossary.py`). `site.py` stages all of it in the build folder, lets
MkDocs make pages, and `links.py` looks whether every link leads somewhere; `outside.py` knows those
that lead out of it.
"""
