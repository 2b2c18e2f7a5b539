"""Reading the label files of public data sets: MATLAB files, lines of numbers, CSV tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.illuminant import Array

_LARGEST = 200_000_000
"""Bytes: a larger file holds no labels."""


def matlab(path: Path, *keys: str) -> dict[str, NDArray[Any]]:
    """Variables of a MATLAB file, by name."""
    from scipy.io import loadmat

    _check(path)
    try:
        content = loadmat(path, variable_names=keys, squeeze_me=True, chars_as_strings=True)
    except NotImplementedError as error:
        raise GreycardError(f"{path}: is of MATLAB's version 7.3; save it again with the option -v7") from error
    except Exception as error:  # a damaged file fails in the parser's own way
        raise GreycardError(
            f"{path}: cannot be read as a MATLAB file ({' '.join(str(error).split())[:100]})"
        ) from error
    missing = [key for key in keys if key not in content]
    if missing:
        raise GreycardError(f"{path}: has no variable {', '.join(missing)}")
    return {key: np.atleast_1d(content[key]) for key in keys}


def lights(values: NDArray[Any], path: Path) -> Array:
    """(n, 3) labels out of a label file, or an error that says what it holds instead."""
    array = np.atleast_2d(np.asarray(values))
    if array.dtype.kind not in "fui" or array.ndim != 2 or array.shape[1] != 3:
        raise GreycardError(f"{path}: expected three numbers a picture, found {array.shape} {array.dtype}")
    return array.astype(np.float64)


def numbers(path: Path) -> list[list[float]]:
    """The numbers of each line of a text file, separated by blanks or commas.

    An empty line is refused unless it is the last: a label that is missing would shift all that follow.
    """
    found = []
    for line, content in enumerate(text(path).rstrip().splitlines(), start=1):
        try:
            values = [float(word) for word in content.replace(",", " ").split()]
        except ValueError as error:
            raise GreycardError(f"{path}: line {line}: expected numbers, found {content[:60]!r}") from error
        if not values:
            raise GreycardError(f"{path}: line {line}: expected numbers, it is empty")
        found.append(values)
    return found


def table(path: Path, *columns: str) -> list[dict[str, str]]:
    """The rows of a CSV file that has at least these columns."""
    reader = csv.DictReader(text(path).splitlines(), skipinitialspace=True)
    try:
        found, rows = reader.fieldnames or [], list(reader)
    except csv.Error as error:
        raise GreycardError(f"{path}: cannot be read as a table ({error})") from error
    missing = [column for column in columns if column not in found]
    if missing:
        raise GreycardError(f"{path}: has no column {', '.join(missing)}; found {', '.join(found)}")
    return rows


def text(path: Path) -> str:
    """The content of a text file."""
    _check(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GreycardError(f"{path}: cannot be read as text ({error})") from error


def _check(path: Path) -> None:
    if not path.is_file():
        raise GreycardError(f"{path}: is missing; the labels of the data set are expected there")
    if path.stat().st_size > _LARGEST:
        raise GreycardError(f"{path}: has {path.stat().st_size:,} bytes, too many for a file of labels")
