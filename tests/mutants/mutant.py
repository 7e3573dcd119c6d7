# SPDX-License-Identifier: MIT
"""What a list of mutants is written with: `from mutant import Mutant`.

The class itself lives with the code that builds mutants and runs them, grader/course/mutants.py.
"""

from grader.course.mutants import Mutant

__all__ = ["Mutant"]
