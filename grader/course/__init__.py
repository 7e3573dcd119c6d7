# SPDX-License-Identifier: MIT
"""The course's sources: where things lie, labs/ out of solutions/, tasks, mutants, misconceptions,
pages of diagnoses. Nothing here builds or runs."""
