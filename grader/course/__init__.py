# SPDX-License-Identifier: MIT
"""The course's sources: paths, skeletons from solutions, tasks, mutants, misconceptions, pages of
diagnoses. Nothing here builds or runs programs."""
