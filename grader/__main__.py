# SPDX-License-Identifier: MIT
"""`python3 -m grader` is `./lab`."""

import sys

from grader.commands.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
