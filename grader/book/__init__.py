# SPDX-License-Identifier: MIT
"""`./lab docs`: the book as a static site.

The sources are Markdown below docs/, without pasted content: code comes from files that tests
compile and run (`code.py`), figures from Graphviz (`figures.py`), from data or from computed
schedules (`charts.py`), terminal output from commands that a test runs (`commands.py` in chapters,
`shown.py` everywhere else), pages of labs from their READMEs (`pages.py`), tables from data
(`seeds.py`), sources of numbers from a list (`numbers.py`), terms from the glossary
(`glossary.py`). `site.py` stages all of it in the build folder and runs MkDocs, `links.py` checks
the links within the site, and `outside.py` those that lead out of it.
"""
