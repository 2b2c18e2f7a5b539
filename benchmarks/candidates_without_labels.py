"""Candidates for a camera without labels: how the obvious choices compare, by leaving one data set out.

python benchmarks/candidates_without_labels.py FOLDER MODELS [--every N]

FOLDER holds gehler_shi.npz, nus8.npz and cube_plus.npz; MODELS the models of `greycard crossval --by dataset --recipe
many-cameras`. Every Nth picture is tested, at the default speed. Prints mean / median error in degrees.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from greycard import camera as cameras
from greycard.adaptation import adapted
from greycard.candidates import CandidateSet, from_colour_matrix, joined, log_prior, select
from greycard.datasets import packed
from greycard.datasets.packed import Packed
from greycard.estimator import Estimator, load
from greycard.evaluation import label_candidates
from greycard.illuminant import angular_error, unit

Choice = Callable[[Estimator, str], CandidateSet]


def flat_band(estimator: Estimator, camera: str) -> CandidateSet:
    """The band, every light as probable as the other."""
    matrices = cameras.colour_matrices(camera)
    assert matrices is not None
    return from_colour_matrix(matrices)


def band_with_prior(estimator: Estimator, camera: str) -> CandidateSet:
    """The band with the prior of the cameras that the model was trained on."""
    matrices = cameras.colour_matrices(camera)
    assert matrices is not None
    return estimator.from_colour_matrix(matrices)


def carried_over(estimator: Estimator, camera: str) -> CandidateSet:
    """The lights of the model's cameras through their matrices and this one's; as often as they were seen."""
    to = cameras.colour_matrices(camera)
    assert to is not None
    lights = []
    for name, chosen in estimator.model.cameras.items():
        matrices = cameras.colour_matrices(name)
        assert matrices is not None
        assert chosen.bias is not None
        carried = np.linalg.solve(matrices.matrices[0], chosen.illuminants.T).T @ to.matrices[0].T
        lights.append(np.repeat(carried, np.round(np.exp(chosen.bias)).astype(int), axis=0))
    every = np.concatenate(lights)
    measured = unit(every[np.all(every > 0.02 * every.max(axis=1, keepdims=True), axis=1)])
    chosen = select(measured, 120)
    return CandidateSet(chosen, bias=log_prior(measured, chosen))


def both(estimator: Estimator, camera: str) -> CandidateSet:
    """The lights carried over and the band together, each with half of the prior."""
    return joined(carried_over(estimator, camera), band_with_prior(estimator, camera), 0.5)


CHOICES: dict[str, Choice] = {
    "plain band": flat_band,
    "band and prior": band_with_prior,
    "lights of known cameras carried over": carried_over,
    "both of these": both,
}


def errors(estimator: Estimator, data: Packed, chosen: dict[tuple[str, int], CandidateSet], every: int) -> np.ndarray:
    """Degrees, for every Nth picture."""
    part = data.where(np.arange(len(data)) % every == 1)
    estimates = [
        estimator.estimate_thumbnail(image, str(camera), candidates=chosen[str(camera), int(fold)]).illuminant
        for image, camera, fold in zip(part.images, part.cameras, part.folds, strict=True)
    ]
    return angular_error(np.array(estimates), part.illuminants)


def main() -> None:
    """Print a table with a row for each choice and a column for each data set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--every", type=int, default=3)
    options = parser.parse_args()
    columns: dict[str, dict[str, np.ndarray]] = {}
    for name in ("gehler_shi", "nus8", "cube_plus"):
        data = packed.load(options.folder / f"{name}.npz")
        estimator = load(options.models / f"without-{name}-seed-0.safetensors")
        pairs = {(str(camera), int(fold)) for camera, fold in zip(data.cameras, data.folds, strict=True)}
        column = {}
        for label, choice in CHOICES.items():
            of_camera = {camera: choice(estimator, camera) for camera in {camera for camera, _ in pairs}}
            chosen = {pair: of_camera[pair[0]] for pair in pairs}
            column[label] = errors(estimator, data, chosen, options.every)
            if choice is band_with_prior:
                scores = {camera: _scores(estimator, data, camera, of_camera[camera]) for camera in of_camera}
                learned = {pair: _from_others(data, *pair, of_camera[pair[0]], scores[pair[0]]) for pair in pairs}
                column["band, prior from pictures"] = errors(estimator, data, learned, options.every)
        labels = label_candidates(data, "folds")
        column["labels of other folds"] = errors(estimator, data, dict(labels), options.every)
        union = {pair: joined(labels[pair], band_with_prior(estimator, pair[0]), 0.9) for pair in pairs}
        column["these and a tenth of the band"] = errors(estimator, data, union, options.every)
        columns[name] = column
    print(f"one picture in {options.every}, mean / median in degrees")
    print("| candidates | " + " | ".join(columns) + " |")
    for label in next(iter(columns.values())):
        cells = [f"{np.mean(column[label]):.2f} / {np.median(column[label]):.2f}" for column in columns.values()]
        print(f"| {label} | " + " | ".join(cells) + " |")


def _scores(estimator: Estimator, data: Packed, camera: str, chosen: CandidateSet) -> np.ndarray:
    return estimator.scores(data.images[data.cameras == camera], chosen)


def _from_others(data: Packed, camera: str, fold: int, chosen: CandidateSet, scores: np.ndarray) -> CandidateSet:
    return adapted(chosen, scores[data.folds[data.cameras == camera] != fold])


if __name__ == "__main__":
    main()
