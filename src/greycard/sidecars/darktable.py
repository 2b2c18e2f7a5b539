"""darktable's .xmp: a step in the history of its white-balance module, with the multipliers themselves.

darktable's colour-calibration module may correct the light a second time. A sidecar that uses it is told to take the
white that the white-balance module leaves; one that does not gets a step that switches it off, so that no preset of the
user's workflow brings it in.
"""

from __future__ import annotations

import base64
import binascii
import copy
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from greycard.camera import ColourMatrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, gains, unit
from greycard.sidecars.balance import Balance, Kept
from greycard.sidecars.xmp import RDF, Document

_URI = "http://darktable.sf.net/"
_DT = f"{{{_URI}}}"
_NEWEST = 5
"""Version of darktable's sidecars."""
_TEMPERATURE, _CALIBRATION = "temperature", "channelmixerrgb"
_TEMPERATURE_VERSION, _CALIBRATION_VERSION = 3, 3
_ILLUMINANT = 120
"""Where the illuminant stands in the parameters of colour calibration; 0 is the white of the pipeline."""
_MOST = 1_000_000


def path_of(picture: Path) -> Path:
    """IMG_1.CR2.xmp for IMG_1.CR2."""
    return picture.with_name(f"{picture.name}.xmp")


def written(old: bytes | None, balance: Balance, path: Path, overwrite: bool) -> str:
    """The text of a sidecar with this white balance as the last step of its history."""
    ElementTree.register_namespace("darktable", _URI)
    document = Document(old, path)
    version = document.get(f"{_DT}xmp_version") or "0"
    if not version.isdecimal() or int(version[:9]) > _NEWEST:
        raise GreycardError(
            f"{path}: is of version {version}, newer than greycard knows ({_NEWEST}); it was not touched"
        )
    steps = _steps(document)
    end = _end(document, steps)
    if _last(steps[:end], _TEMPERATURE) is not None and not overwrite:
        raise Kept(f"{path}: has a white balance already; use --overwrite to replace it")
    added = [_white_balance(balance.light), *_calibration(steps[:end], path)]
    if old is None:
        document.set(f"{_DT}xmp_version", "4")
        document.set(f"{_DT}raw_params", "0")
        document.set(f"{_DT}auto_presets_applied", "0")
    sequence = _sequence(document)
    for step in steps:
        sequence.remove(step)
    for number, step in enumerate([*steps[:end], *added, *steps[end:]]):
        step.set(f"{_DT}num", str(number))
        sequence.append(step)
    document.set(f"{_DT}history_end", str(end + len(added)))
    return document.text()


def read(content: bytes, matrices: ColourMatrices | None, path: Path) -> Array | None:
    """(3,) the light that the white-balance module makes neutral; None where colour calibration decides that."""
    document = Document(content, path)
    steps = _steps(document)
    active = steps[: _end(document, steps)]
    step, calibration = _last(active, _TEMPERATURE), _last(active, _CALIBRATION)
    if step is None or step.get(f"{_DT}enabled") != "1":
        return None
    if calibration is not None and calibration.get(f"{_DT}enabled") == "1" and _illuminant(calibration, path) != 0:
        return None
    data = _parameters(step, path)
    if len(data) < 12 or step.get(f"{_DT}modversion") not in ("3", "4"):
        return None
    multipliers = np.array(struct.unpack("<3f", data[:12]), dtype=np.float64)
    return unit(1 / multipliers) if np.all(np.isfinite(multipliers)) and np.all(multipliers > 0) else None


def _white_balance(light: Array) -> ElementTree.Element:
    red, green, blue = gains(light).tolist()
    return _step(_TEMPERATURE, _TEMPERATURE_VERSION, struct.pack("<4f", red, green, blue, green), enabled=True)


def _calibration(active: list[ElementTree.Element], path: Path) -> list[ElementTree.Element]:
    """Steps that keep colour calibration from correcting the light a second time."""
    instances = {step.get(f"{_DT}multi_priority", "0"): step for step in active if _name(step) == _CALIBRATION}
    changed = []
    for step in instances.values():
        data = _parameters(step, path)
        if step.get(f"{_DT}enabled") != "1" or _illuminant(step, path) == 0:
            continue
        again = copy.deepcopy(step)
        again.set(f"{_DT}params", (data[:_ILLUMINANT] + bytes(4) + data[_ILLUMINANT + 4 :]).hex())
        changed.append(again)
    if instances:
        return changed
    # Red, green and blue as they are, no mixing; then six switches, the illuminants, adaptation, its white and limits.
    mixing = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, *([0] * 12)]
    nothing = struct.pack("<24f6i4i4f2i", *mixing, 0, 0, 0, 0, 0, 1, 0, 2, 4, 1, 1 / 3, 1 / 3, 5003, 1, 1, 2)
    return [_step(_CALIBRATION, _CALIBRATION_VERSION, nothing, enabled=False)]


def _step(operation: str, version: int, parameters: bytes, *, enabled: bool) -> ElementTree.Element:
    values = {
        "operation": operation,
        "enabled": str(int(enabled)),
        "modversion": str(version),
        "params": parameters.hex(),
        "multi_name": "",
        "multi_priority": "0",
    }
    return ElementTree.Element(f"{RDF}li", {f"{_DT}{key}": value for key, value in values.items()})


def _sequence(document: Document) -> ElementTree.Element:
    """The list of the history's steps, made where there is none."""
    history = document.root.find(f".//{_DT}history")
    if history is None:
        history = ElementTree.SubElement(document.description, f"{_DT}history")
    sequence = history.find(f"{RDF}Seq")
    return ElementTree.SubElement(history, f"{RDF}Seq") if sequence is None else sequence


def _steps(document: Document) -> list[ElementTree.Element]:
    """The steps of the history in their order."""
    found = document.root.findall(f".//{_DT}history/{RDF}Seq/{RDF}li")
    return sorted(found, key=lambda step: int(number[:9]) if (number := step.get(f"{_DT}num", "")).isdecimal() else 0)


def _end(document: Document, steps: list[ElementTree.Element]) -> int:
    """How many steps are in force; later ones were undone."""
    end = document.get(f"{_DT}history_end") or ""
    return min(int(end[:9]), len(steps)) if end.isdecimal() else len(steps)


def _last(steps: list[ElementTree.Element], operation: str) -> ElementTree.Element | None:
    return next((step for step in reversed(steps) if _name(step) == operation), None)


def _name(step: ElementTree.Element) -> str | None:
    return step.get(f"{_DT}operation")


def _illuminant(step: ElementTree.Element, path: Path) -> int:
    """Number of the illuminant of a step of colour calibration."""
    data = _parameters(step, path)
    if len(data) < _ILLUMINANT + 4:
        raise GreycardError(f"{path}: its colour calibration is of a version that greycard does not know")
    number: int = struct.unpack_from("<i", data, _ILLUMINANT)[0]
    return number


def _parameters(step: ElementTree.Element, path: Path) -> bytes:
    """A step's parameters: hexadecimal digits, or "gz", two digits and compressed bytes."""
    text = step.get(f"{_DT}params", "")
    try:
        if text.startswith("gz"):
            return zlib.decompressobj().decompress(base64.b64decode(text[4:]), _MOST)
        return bytes.fromhex(text)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise GreycardError(f"{path}: the parameters of {_name(step)} cannot be read; mend or remove it") from error
