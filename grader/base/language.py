# SPDX-License-Identifier: MIT
"""Messages of `./lab` to learners, in their language.

Every message has a key; grader/words/en.json has all of them. A translation is a file beside it
("de.json") or anywhere (`--language my.json`); messages that it lacks are printed in English.
`{name}` in a message is replaced by a value, wherever the translation has it.
"""

import json
import os
from pathlib import Path

from grader.base.exits import ExitStatus, LabError

FOLDER = Path(__file__).parents[1] / "words"
ENGLISH = "en"
ASKED = "?"  # --language without a name

_english: dict[str, str] = {}
_chosen: dict[str, str] = {}


def say(key: str, /, **values: object) -> str:
    """The message of that key. KeyError: not even the English file has it."""
    if not _english:
        _english.update(read(FOLDER / f"{ENGLISH}.json"))
    return (_chosen.get(key) or _english[key]).format(**values)


def use(wanted: str = "") -> None:
    """Selects the language of all later messages: `wanted` (a name like "de", or a file), or else
    the environment's. LabError: there is no such language."""
    _chosen.clear()
    if path := _file(wanted):
        _chosen.update(read(path))


def there() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(path: Path) -> dict[str, str]:
    """Key to message. LabError: the file is not a valid translation."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path} is not a file of messages: {error}", ExitStatus.USAGE) from error
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise LabError(
            f"{path} is not a file of messages: expected an object of keys and texts",
            ExitStatus.USAGE,
        )
    return found


def _file(wanted: str) -> Path | None:
    """None for English, and for a language of the environment that has no translation."""
    if wanted.endswith(".json"):
        return Path(wanted)
    if wanted and wanted not in there():
        said = "" if wanted == ASKED else f"There is no language {wanted!r}. "
        raise LabError(
            f"{said}Languages: {', '.join(there())}; or a file of your "
            "own, a copy of grader/words/en.json: --language my.json",
            ExitStatus.USAGE,
        )
    name = wanted or _from_environment()
    return FOLDER / f"{name}.json" if name in there() and name != ENGLISH else None


def _from_environment() -> str:
    """As in gettext: the first of these variables that is set decides. "de_DE.UTF-8" means "de"."""
    for variable in ("PEERLAB_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable, ""):
            return value.split(".")[0].split("_")[0]
    return ENGLISH
