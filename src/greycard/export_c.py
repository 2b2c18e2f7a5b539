"""A model as one C99 file: weights and code, no dependencies but `math.h`, no allocation; a test program beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np
from numpy.typing import NDArray

from greycard.candidates import CandidateSet
from greycard.coarse_to_fine import cell_order
from greycard.illuminant import Array
from greycard.likelihood import log_likelihoods
from greycard.model_file import Model
from greycard.output import write_whole
from greycard.thumbnail import FEWEST_CELLS, FLOOR, SIZE, log_image

TESTED = 5
"""Candidates in the test program."""


def write(model: Model, candidates: CandidateSet, path: str | Path) -> Path:
    """Write NAME.c, and NAME_test.c beside it, which compares it with greycard's own numbers; returns the latter.

    candidates: the set that the file carries; its functions take any.
    """
    path = Path(path)
    beside = path.with_name(f"{path.stem}_test.c")
    write_whole(path, source(model, candidates))
    write_whole(beside, test_source(model, path.name))
    return beside


def source(model: Model, candidates: CandidateSet) -> str:
    """The C file."""
    count = len(candidates.illuminants)
    gain = np.ones(count) if candidates.gain is None else candidates.gain
    prior = np.zeros(count) if candidates.bias is None else candidates.bias
    arrays = [
        _array(weights.name, getattr(model.network, weights.name).reshape(-1)) for weights in fields(model.network)
    ]
    arrays.append(_array("kernel_sums", model.network.convolution_weight.sum(axis=(0, 1)).reshape(-1)))
    arrays.append(_integers("cell_order", cell_order(SIZE, SIZE)))
    arrays.append(_array("greycard_candidates", candidates.illuminants.reshape(-1), public=True))
    arrays.append(_array("greycard_gain", gain, public=True))
    arrays.append(_array("greycard_log_prior", prior, public=True))
    return _template("model.c").substitute(
        name=_comment(model.name), count=count, floor=_float(FLOOR), fewest=FEWEST_CELLS, arrays="\n".join(arrays)
    )


def test_source(model: Model, name: str) -> str:
    """A program that ends with 0 if the log-likelihoods of a made-up thumbnail are greycard's to 1e-4.

    name: the C file that it tests.
    """
    candidates = model.any_camera.illuminants[:: max(1, len(model.any_camera.illuminants) // TESTED)][:TESTED]
    expected = log_likelihoods(model.network, log_image(made_up_thumbnail()), candidates.astype(np.float32))
    return _template("model_test.c").substitute(
        file=name, count=len(candidates), candidates=_numbers(candidates.reshape(-1)), expected=_numbers(expected)
    )


def made_up_thumbnail() -> NDArray[np.float32]:
    """(64, 64, 3) what the test program makes up as well: whole numbers from 1 to 256, and a masked corner."""
    state, values = 1, np.empty(SIZE * SIZE * 3, dtype=np.float32)
    for index in range(len(values)):
        state = (1664525 * state + 1013904223) % 2**32
        values[index] = 1 + (state >> 24)
    cells = values.reshape(SIZE, SIZE, 3)
    cells[:8, :8] = 0
    return cells


def _template(name: str) -> Template:
    return Template(resources.files("greycard").joinpath(f"c/{name}.template").read_text("utf-8"))


def _array(name: str, values: Array | NDArray[np.float32], *, public: bool = False) -> str:
    return f"{'' if public else 'static '}const float {name}[{len(values)}] = {{\n{_numbers(values)}\n}};\n"


def _integers(name: str, values: NDArray[np.intp]) -> str:
    return f"static const unsigned short {name}[{len(values)}] = {{\n{_lines(map(str, values.tolist()))}\n}};\n"


def _numbers(values: Array | NDArray[np.float32]) -> str:
    return _lines(_float(float(value)) for value in values)


def _float(value: float) -> str:
    """A number with all the digits that a float has."""
    return f"{np.float32(value):.8e}f"


def _lines(words: Iterable[str]) -> str:
    """Words with commas, eight on a line."""
    listed = list(words)
    return ",\n".join("    " + ", ".join(listed[start : start + 8]) for start in range(0, len(listed), 8))


def _comment(text: str) -> str:
    """A name that cannot end a comment of C."""
    return "".join(letter if letter.isalnum() or letter in " .-_" else "_" for letter in text)
