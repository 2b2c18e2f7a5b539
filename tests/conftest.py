"""What the tests share: the folders with real data, a tiny made-up data set, an untrained model, the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# The tests multiply small matrices: more threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
import tifffile

from greycard.candidates import CandidateSet
from greycard.datasets import packed
from greycard.datasets.packed import Packed
from greycard.illuminant import unit
from greycard.likelihood import SHAPES, Network
from greycard.model_file import Model, TrainingImages
from greycard.thumbnail import log_image


def _folder(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} is not set: it points to the folder with real data")
    return Path(folder)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return _folder("GREYCARD_DATA")


@pytest.fixture(scope="session")
def raw_folder() -> Path:
    return _folder("GREYCARD_RAW")


@pytest.fixture
def run(monkeypatch, capsys):
    """run("estimate", "a.png") -> (exit code, standard output, standard error)."""
    from greycard.cli import main as cli

    def start(*arguments):
        monkeypatch.setattr(sys, "argv", ["greycard", *map(str, arguments)])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return start


@pytest.fixture
def image():
    """The log image of a made-up thumbnail with a masked corner."""
    cells = np.random.default_rng(2).uniform(0.05, 1, (64, 64, 3))
    cells[:5, 20:30] = 0
    return log_image(cells)


@pytest.fixture
def make_packed():
    """A data set of coloured noise lit by known lights: `make_packed(n)` -> Packed."""

    def make(
        n: int = 24,
        *,
        cameras: tuple[str, ...] = ("Alpha One",),
        dataset: str = "made-up",
        seed: int = 0,
        content: str = "grey",
    ) -> Packed:
        generator = np.random.default_rng(seed)
        ratios = generator.uniform(0.3, 1.0, (n, 2))
        illuminants = unit(np.stack([ratios[:, 0], np.ones(n), ratios[:, 1]], axis=1))
        surfaces = generator.beta(2, 4, (n, 64, 64, 1)) * generator.uniform(0.8, 1.2, (n, 64, 64, 3))
        if content == "distinct":  # every picture has its own contrast and colours
            surfaces = surfaces ** generator.uniform(0.2, 4, (n, 1, 1, 3))
        images = surfaces * illuminants[:, None, None] * 30_000
        return Packed(
            images=np.clip(images, 1, 65535).astype(np.uint16),
            illuminants=illuminants,
            cameras=np.array([cameras[i % len(cameras)] for i in range(n)]),
            names=np.array([f"{dataset}_{i:03d}.png" for i in range(n)]),
            datasets=np.full(n, dataset),
            folds=(np.arange(n) % 3).astype(np.int8),
            scene_folds=np.full(n, -1, dtype=np.int8),
        )

    return make


def save_packed(data: Packed, path: Path) -> Path:
    """Write a data set as users have it on disk."""
    packed.save(data, path)
    return path


def fractions(values) -> list[int]:
    """Numbers as a TIFF keeps them: numerator and denominator in turn."""
    return [part for value in np.ravel(values) for part in (round(float(value) * 1_000_000), 1_000_000)]


def write_dng(path: Path, stored, *, pattern: str = "RGGB", tags=None) -> Path:
    """A DNG of a mosaic (H, W), or of three planes (H, W, 3), with a white level of 4095.

    tags: {number: (TIFF type, count, value)}, added or in place of the usual ones; None leaves one out.
    """
    usual = {
        271: (2, 0, "Alpha"),
        272: (2, 0, "One"),
        50706: (1, 4, bytes([1, 4, 0, 0])),
        50708: (2, 0, "Unique Alpha One"),
        50717: (4, 1, 4095),
    }
    if stored.ndim == 2:
        side = round(len(pattern) ** 0.5)
        usual[33421] = (3, 2, (side, side))
        usual[33422] = (1, len(pattern), bytes("RGB".index(colour) for colour in pattern))
    kept = {code: tag for code, tag in {**usual, **(tags or {})}.items() if tag is not None}
    extra = [(code, *tag, True) for code, tag in sorted(kept.items())]
    kind = "cfa" if stored.ndim == 2 else "linear_raw"
    tifffile.imwrite(path, stored, photometric=kind, metadata=None, extratags=extra)
    return path


def two_matrices(tungsten, daylight) -> dict[int, tuple]:
    """Tags of a DNG with a matrix (3, 3) for lamps (A) and one for daylight (D65), and an as-shot white."""
    return {
        50721: (10, 9, fractions(tungsten)),
        50722: (10, 9, fractions(daylight)),
        50728: (5, 3, fractions([0.5, 1, 0.7])),
        50778: (3, 1, 17),
        50779: (3, 1, 21),
    }


def change_tags(path: Path, values: dict[int, int]) -> Path:
    """Write other numbers over tags of a TIFF, true or not."""
    with tifffile.TiffFile(path, mode="r+b") as file:
        for code, value in values.items():
            file.pages.first.tags[code].overwrite(value, dtype=4 if value > 65535 else None)
    return path


def random_network(seed: int = 0) -> Network:
    generator = np.random.default_rng(seed)
    return Network(
        **{
            key: generator.normal(0, 1 / np.sqrt(max(np.prod(shape[:-1]), 1)), shape).astype(np.float32)
            for key, shape in SHAPES.items()
        }
    )


@pytest.fixture
def untrained_model() -> Model:
    """A model with random weights, two cameras, and no training images."""
    generator = np.random.default_rng(1)
    sets = [CandidateSet(unit(generator.uniform(0.2, 1, (n, 3)))) for n in (12, 8, 20)]
    return Model(
        name="untrained",
        network=random_network(),
        cameras={"Alpha One": sets[0], "Beta Two": sets[1]},
        any_camera=sets[2],
        trained_on=TrainingImages(np.array([], np.str_), np.array([], np.str_), np.array([], np.uint64)),
        recipe={"epochs": 1},
        results={},
    )
