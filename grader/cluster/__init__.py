# SPDX-License-Identifier: MIT
"""Grading on several machines (docs/cluster.md).

worklist   a folder from which workers claim submissions, and where they leave records
pool       fills it, and collects the records
worker     one worker: python3 -m grader.cluster.worker
slurm      workers as a job array of Slurm; kubernetes.yaml as an indexed job
"""
