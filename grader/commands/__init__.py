# SPDX-License-Identifier: MIT
"""`./lab`'s commands: the command line (cli.py), and what a single command does and nothing else
needs."""
