"""Scoring estimates against the truth, without ever scoring an image that the model was trained on unasked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greycard import camera as cameras
from greycard import candidates as candidate_selection
from greycard.adaptation import adapted
from greycard.camera import ColourMatrices
from greycard.candidates import CandidateSet
from greycard.coarse_to_fine import Speed
from greycard.datasets.packed import FoldColumn, Packed
from greycard.errors import GreycardError
from greycard.estimator import Estimator
from greycard.illuminant import Array, angular_error, reproduction_error, unit
from greycard.model_file import Model, TrainingImages
from greycard.output import write_whole
from greycard.statistics import STATISTICS, bootstrap_interval, geometric_mean, summary
from greycard.thumbnail import SIZE

CandidateSource = Literal["labels", "pictures", "matrix", "model"]
CandidateSets = Mapping[tuple[str, int], CandidateSet]
"""Candidates for each (camera, fold)."""
LABEL_CANDIDATES = 120
"""How many candidates are chosen from the labels of the other folds."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Estimates for the images of a data set, with their errors.

    data: the images that were scored; estimates: (N, 3); seen: how many of them the model was trained on.
    """

    data: Packed
    estimates: Array
    seen: int = 0

    @property
    def angular_errors(self) -> Array:
        """(N,) degrees."""
        return angular_error(self.estimates, self.data.illuminants)

    @property
    def reproduction_errors(self) -> Array:
        """(N,) degrees."""
        return reproduction_error(self.estimates, self.data.illuminants)

    def report(self) -> dict[str, Any]:
        """Statistics for each camera, for all images, and their geometric mean over cameras."""
        errors, names = self.angular_errors, np.unique(self.data.cameras)
        per_camera = {str(camera): summary(errors[self.data.cameras == camera]) for camera in names}
        return {
            "cameras": per_camera,
            "overall": summary(errors)
            | {
                "mean_interval": bootstrap_interval(errors),
                "median_interval": bootstrap_interval(errors, np.median),
            },
            "geometric_mean": geometric_mean(per_camera.values()),
            "reproduction": summary(self.reproduction_errors),
            "seen_images_scored": self.seen,
        }

    def write_csv(self, path: str | Path) -> None:
        """One line for each image. The file can be read back as predictions."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["dataset", "name", "camera", "r", "g", "b", "angular_error", "reproduction_error"])
        numbers = np.column_stack([self.estimates, self.angular_errors, self.reproduction_errors])
        for dataset, name, camera, values in zip(
            self.data.datasets, self.data.names, self.data.cameras, numbers, strict=True
        ):
            rows.writerow([dataset, name, camera, *(f"{value:.6f}" for value in values)])
        write_whole(path, text.getvalue())


def seen(data: Packed, trained_on: TrainingImages) -> NDArray[np.bool_]:
    """(N,) True where the model was trained on this image, known by its pixels or by its data set and name."""
    by_name = set(zip(trained_on.datasets.tolist(), trained_on.names.tolist(), strict=True))
    named = [pair in by_name for pair in zip(data.datasets.tolist(), data.names.tolist(), strict=True)]
    return np.asarray(np.isin(data.digests(), trained_on.digests) | np.array(named, dtype=bool))


def evaluate(
    estimator: Estimator,
    data: Packed,
    *,
    candidates: CandidateSource | CandidateSets | None = None,
    folds: FoldColumn = "folds",
    include_seen: bool = False,
    speed: Speed = "exact",
    grid: int = SIZE,
    progress: Callable[[], object] = lambda: None,
) -> Scores:
    """Estimate every image that the model has not seen, and compare with the truth.

    candidates: "labels" takes the candidates for a fold from the labels of the camera's other folds; "model" takes
    those that the model carries for the camera; "matrix" those that the camera's bundled colour matrix gives, with the
    prior of the model's cameras (and so no label of its own, unless it is one of these); "pictures" these with a prior
    from the pictures, without labels, of the camera's other folds; or a set for each (camera, fold). The default is
    "labels", except for a model that has learned gain and bias for its own candidates.
    include_seen: score also images that the model was trained on; their number is then part of the report.
    speed: as in `greycard.load`; whatever that of the estimator is, results are exact unless told otherwise.
    grid: cells along each side of the thumbnails, fewer than 64 where these are noisy. progress: called after each
    image.
    """
    estimator = Estimator(estimator.model, speed)
    if isinstance(candidates, Mapping):
        _refuse_learned(estimator.model)
    else:
        candidates = _candidate_source(estimator.model, data, candidates, folds)
    known = seen(data, estimator.model.trained_on)
    if known.all() and not include_seen:
        raise GreycardError(
            f"{', '.join(np.unique(data.datasets))}: the model {estimator.model.name!r} was trained on every image "
            "of it, so its errors would say nothing; use another model, or --include-seen to score them anyway"
        )
    scored = data if include_seen else data.where(~known)
    # Candidates may come from the labels of seen images: these are labels of other folds, not of a scored image.
    chosen = candidates
    if candidates == "labels":
        chosen = label_candidates(data, folds)
    elif candidates in ("matrix", "pictures"):
        chosen = matrix_candidates(estimator, data, folds, pictures=candidates == "pictures")
    estimates = []
    rows = zip(scored.images, scored.cameras, scored.names, getattr(scored, folds), strict=True)
    for image, camera, name, fold in rows:
        given = chosen[str(camera), int(fold)] if isinstance(chosen, Mapping) else None
        options: dict[str, Any] = {"candidates": given, "name": str(name), "grid": grid}
        estimates.append(estimator.estimate_thumbnail(image, str(camera), **options).illuminant)
        progress()
    return Scores(scored, np.array(estimates), int(known.sum()) if include_seen else 0)


def _candidate_source(
    model: Model, data: Packed, candidates: CandidateSource | None, folds: FoldColumn
) -> CandidateSource:
    """Where the candidates come from: as asked for, or what suits the model; refused where that cannot be had."""
    learned = model.any_camera.gain is not None
    if candidates in ("labels", "matrix", "pictures"):
        _refuse_learned(model)
    chosen: CandidateSource = candidates or ("model" if learned else "labels")
    if chosen == "labels" and np.any(getattr(data, folds) < 0):
        missing = ", ".join(np.unique(data.datasets[getattr(data, folds) < 0]))
        raise GreycardError(
            f"{missing}: has no {folds!r} to take candidates from the labels of others; use --candidates model"
        )
    return chosen


def _refuse_learned(model: Model) -> None:
    """Refuse candidates that are not the model's own where it has learned gain and bias for these."""
    if model.any_camera.gain is not None:
        raise GreycardError(
            f"the model {model.name!r} has learned gain and bias for its own candidates, others would not do "
            "it justice; use --candidates model"
        )


def label_candidates(data: Packed, folds: FoldColumn, n: int = LABEL_CANDIDATES) -> CandidateSets:
    """Candidates and prior for each (camera, fold): from the labels of that camera in all other folds."""
    numbers = data.fold_numbers(folds)
    found: dict[tuple[str, int], CandidateSet] = {}
    for camera in np.unique(data.cameras):
        of_camera = data.cameras == camera
        for fold in np.unique(numbers[of_camera]):
            labels = data.illuminants[of_camera & (numbers != fold)]
            if len(labels) == 0:
                raise GreycardError(
                    f"{camera}: all its images are in one fold, so no labels are left to take candidates from; "
                    "use those of the model (--candidates model)"
                )
            chosen = candidate_selection.select(labels, n)
            found[str(camera), int(fold)] = CandidateSet(chosen, bias=candidate_selection.log_prior(labels, chosen))
    return found


def matrix_candidates(
    estimator: Estimator,
    data: Packed,
    folds: FoldColumn,
    matrices: Mapping[str, ColourMatrices] | None = None,
    *,
    pictures: bool = False,
) -> CandidateSets:
    """Candidates for each (camera, fold) from the camera's colour matrix: one of those given, or the bundled one.

    pictures: take the prior from the pictures of the camera's other folds, without their labels.
    """
    found: dict[tuple[str, int], CandidateSet] = {}
    numbers = data.fold_numbers(folds) if pictures else getattr(data, folds)
    for camera in map(str, np.unique(data.cameras)):
        given = matrices and cameras.is_known(camera, matrices)
        matrix = matrices[cameras.find(camera, matrices)] if matrices and given else cameras.colour_matrices(camera)
        if matrix is None:
            raise GreycardError(f"{camera}: its colour matrix is not known; give it with --cameras")
        chosen = estimator.from_colour_matrix(matrix)
        own = data.cameras == camera
        scores = estimator.scores(data.images[own], chosen) if pictures else None
        for fold in np.unique(numbers[own]):
            others = None if scores is None else scores[numbers[own] != fold]
            found[camera, int(fold)] = chosen if others is None else adapted(chosen, others)
    return found


def over_seeds(reports: list[dict[str, Any]], part: str = "overall") -> dict[str, dict[str, float]]:
    """Mean, smallest and largest value of each statistic over repeated runs."""
    values = {key: [report[part][key] for report in reports] for key in STATISTICS}
    return {
        key: {"mean": float(np.mean(runs)), "min": float(min(runs)), "max": float(max(runs))}
        for key, runs in values.items()
    }


def read_predictions(path: str | Path, data: Packed) -> Scores:
    """Anybody's estimates: a CSV with the columns name, r, g, b and one row for each image of the data set.

    Where it has a column dataset too, a row counts only for the data set that it names.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GreycardError(f"{path}: cannot be read ({error})") from error
    if not rows or not {"name", "r", "g", "b"} <= rows[0].keys():
        raise GreycardError(f"{path}: expected a CSV file with the columns name, r, g, b")
    estimates: dict[tuple[str, str], Array] = {}
    for line, row in enumerate(rows, start=2):
        key = (row.get("dataset") or "", row["name"])
        if key in estimates:
            raise GreycardError(f"{path}: line {line}: a second row for {row['name']}")
        try:
            estimates[key] = unit([float(row[channel]) for channel in "rgb"])
        except (TypeError, ValueError) as error:
            raise GreycardError(f"{path}: line {line}: r, g and b must be positive numbers") from error
    wanted = list(zip(data.datasets.tolist(), data.names.tolist(), strict=True))
    found = [estimates.get(key, estimates.get(("", key[1]))) for key in wanted]
    missing = [name for (_, name), estimate in zip(wanted, found, strict=True) if estimate is None]
    if missing:
        more = f" and {len(missing) - 1} more images" if len(missing) > 1 else ""
        raise GreycardError(f"{path}: has no row for {missing[0]}{more}")
    return Scores(data, np.array(found))
