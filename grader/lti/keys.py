# SPDX-License-Identifier: MIT
"""The service's own key pair, by which it asks a platform for tokens: made once, readable by its
user alone. Its public half is what /jwks shows."""

import os
import stat
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from grader.base.exits import ExitStatus, LabError

FILE, BITS = "key.pem", 2048


def key(folder: Path) -> tuple[str, str]:
    """Private and public, as PEM. LabError where others can read the private one."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / FILE
    if not path.exists():
        _make(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise LabError(
            f"{path} has mode {mode:o}: others can read the key by which this service sends marks. "
            f"If no one has read it: chmod 600 {path}. Otherwise delete it: the next start makes "
            "another one, and the platform reads its public half from /jwks.",
            ExitStatus.USAGE,
        )
    private = path.read_text(encoding="ascii")
    loaded = serialization.load_pem_private_key(private.encode(), None)
    public = loaded.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public.decode()


def _make(path: Path) -> None:
    """Two that start at once have one key: the second finds the first one's file."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    text = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(text)
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
