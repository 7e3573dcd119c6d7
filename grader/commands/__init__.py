# SPDX-License-Identifier: MIT
"""`./lab`'s commands: the command line (cli.py), and code that only a single command uses."""
