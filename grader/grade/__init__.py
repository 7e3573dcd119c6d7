# SPDX-License-Identifier: MIT
"""`./lab grade`: from a folder of submissions to marks.

ingest     paths, archives and LMS downloads become packages, one a student
contract   of a package, only the files that a lab asks for
course     the trusted programs, built once, and what they are (hashes, versions)
work       one submission: its file over a pristine tree, built and run in the sandbox
marks      verdicts become points by the rubric; nothing that a submission says does
database   results.sqlite, in which the next two keep what they know
journal    how every run ended; everything else in the output folder can be made again from it
published  results, as pages and exporters read them
batch      many submissions at a time, resumed, cached
results    the one set of records that every report and exporter reads
"""
