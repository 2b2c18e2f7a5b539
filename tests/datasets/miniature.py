"""Pictures with a known answer: grey surfaces under one light of whole numbers, so that no colour is rounded."""

from __future__ import annotations

import multiprocessing
import os
import struct
from pathlib import Path

import imagecodecs
import numpy as np

from greycard.illuminant import unit

WILD = (700, 100, 900)
"""The colour of a chart, above black, that must not be seen."""


def lit(light, *, height=128, width=128, black=0, brightest=800, seed=0):
    """(height, width, 3) uint16: grey levels up to `brightest`, times the light, above black."""
    levels = np.random.default_rng(seed).integers(brightest // 4, brightest, (height, width, 1))
    return (black + levels * np.array(light)).astype(np.uint16)


def write_png(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(imagecodecs.png_encode(pixels))
    return path


def cells(**spans):
    """(64, 64) True in these rows and columns: cells(rows=(3, 8), columns=(5, 9))."""
    found = np.zeros((64, 64), bool)
    found[slice(*spans["rows"]), slice(*spans["columns"])] = True
    return found


def assert_shows(thumbnail, light, hidden):
    """Every cell has the colour of the light, but those that are hidden, which are 0."""
    np.testing.assert_array_equal(thumbnail.max(axis=-1) == 0, hidden)
    seen = unit(thumbnail[~hidden].astype(np.float64))
    np.testing.assert_allclose(seen, np.broadcast_to(unit(light), seen.shape), atol=1e-3)


def cell(values, shape):
    """A cell array as scipy writes it."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


def matlab_73(path):
    """The header of a MATLAB 7.3 file, which is HDF5 inside."""
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + struct.pack("<H", 0x0200) + b"IM" + bytes(400))


class Deadly(type(Path())):
    """A file whose decoder ends the process."""

    def stat(self, *, follow_symlinks=True):
        if multiprocessing.parent_process():
            os._exit(1)
        return super().stat(follow_symlinks=follow_symlinks)
