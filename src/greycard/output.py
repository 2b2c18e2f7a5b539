"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import uuid
from pathlib import Path

from greycard.errors import GreycardError


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write beside the target, then rename: a killed run leaves the old file or the new one, never a half."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise GreycardError(f"{path}: cannot be written ({error.strerror or error})") from error
