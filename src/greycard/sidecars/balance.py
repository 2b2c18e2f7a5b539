"""What a sidecar is to say, and why it may stay as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from greycard.camera import ColourMatrices
from greycard.errors import GreycardError
from greycard.illuminant import Array

Program = Literal["rawtherapee", "darktable", "adobe"]


@dataclass(frozen=True, eq=False)
class Balance:
    """A light (3,) as the camera sees it, and the camera's colour matrices, or None where they are not known."""

    light: Array
    matrices: ColourMatrices | None = None


class Kept(GreycardError):
    """A sidecar has a white balance already, and it may not be overwritten."""
