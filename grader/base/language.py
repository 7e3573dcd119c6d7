# SPDX-License-Identifier: MIT
"""What `./lab` says to learners, in their language.

Every sentence has a key, and grader/words/en.json has them all. A translation is a file beside it
("de.json") or anywhere (`--language my.json`); what it lacks is said in English. `{name}` in a
sentence is filled in, and a translation may put it where its grammar wants it.
"""

import json
import os
from pathlib import Path

from grader.base.exits import ExitStatus, LabError

FOLDER = Path(__file__).parents[1] / "words"
ENGLISH = "en"

_english: dict[str, str] = {}
_chosen: dict[str, str] = {}


def say(key: str, /, **values: object) -> str:
    """The sentence of that key. KeyError: nobody wrote it, not even in English."""
    if not _english:
        _english.update(read(FOLDER / f"{ENGLISH}.json"))
    return (_chosen.get(key) or _english[key]).format(**values)


def use(wanted: str = "") -> None:
    """Says everything from now on in the language asked for (a name like "de", or a file), or else
    in the environment's. LabError: there is none of that name."""
    _chosen.clear()
    if path := _file(wanted):
        _chosen.update(read(path))


def there() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(path: Path) -> dict[str, str]:
    """Key to sentence. LabError: it is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path} is no file of sentences: {error}", ExitStatus.USAGE) from error
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise LabError(f"{path} is no file of sentences: keys and texts", ExitStatus.USAGE)
    return found


def _file(wanted: str) -> Path | None:
    """None for English. What the environment asks for and we have not is English, too."""
    if wanted.endswith(".json"):
        return Path(wanted)
    if wanted and wanted not in there():
        raise LabError(
            f"There is no language {wanted!r}. There are: {', '.join(there())}; or a file of your "
            "own, a copy of grader/words/en.json: --language my.json",
            ExitStatus.USAGE,
        )
    name = wanted or _from_environment()
    return FOLDER / f"{name}.json" if name in there() and name != ENGLISH else None


def _from_environment() -> str:
    """As gettext does: the first of these that is set decides. "de_DE.UTF-8" means "de"."""
    for variable in ("PEERLAB_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable, ""):
            return value.split(".")[0].split("_")[0]
    return ENGLISH
