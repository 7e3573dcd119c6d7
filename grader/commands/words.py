# SPDX-License-Identifier: MIT
"""How a command is added: its line in `./lab --help` also begins the help of the command itself."""

import argparse

Commands = "argparse._SubParsersAction[argparse.ArgumentParser]"
LAB = "number of the lab, such as 03"
CASES = "a lab or a test, such as 03 or 03.path (default: all labs)"


def add_command(
    commands: Commands, name: str, does: str, details: str = "", epilog: str = ""
) -> argparse.ArgumentParser:
    whole = f"{does[0].upper()}{does[1:]}."
    return commands.add_parser(
        name, help=does, description=f"{whole} {details}".strip(), epilog=epilog or None
    )
