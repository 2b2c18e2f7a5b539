"""The three stages together: candidates, likelihood, posterior -> an estimate of the light."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import camera as cameras
from greycard import camera_file, model_file, photo, thumbnail
from greycard import candidates as candidate_selection
from greycard import illuminant as illuminants
from greycard.batch import many
from greycard.camera import ColourMatrices
from greycard.candidates import CandidateSet, joined
from greycard.coarse_to_fine import Scorer, Speed, effort_of
from greycard.errors import GreycardError
from greycard.illuminant import Array, Temperature
from greycard.model_file import Model
from greycard.photo import Photo
from greycard.posterior import Posterior, posterior

_LABELS_SHARE = 0.9
"""Prior probability that the light of a known camera is one like those of its labels; else any of its matrix's band."""
_RIVAL = 0.25
"""Probability from which on another light is worth a warning."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """A light that explains the picture: unit illuminant (3,) and probability.

    cct, name: its colour temperature in kelvin and an everyday name; None where the camera's matrix is not known.
    """

    illuminant: Array
    probability: float
    cct: float | None
    name: str | None


@dataclass(frozen=True, eq=False)
class Estimate:
    """The colour of the light in one picture.

    illuminant: (3,) unit RGB of the posterior mean. posterior: the whole distribution over the candidates; None where
    a method that has none, such as gray-world, made the estimate.
    camera: what took the picture, as far as is known; or None. name: the file or array that this is about.
    matrices: what its file says of the camera's colours; or None. as_shot: (3,) unit RGB of what the camera took for
    white; or None. candidates_from: in words, where the candidates come from.
    """

    illuminant: Array
    posterior: Posterior | None
    camera: str | None
    name: str
    warnings: tuple[str, ...] = ()
    matrices: ColourMatrices | None = None
    as_shot: Array | None = None
    candidates_from: str = "given"

    @property
    def probabilities(self) -> Array:
        """(n,) probability of each candidate."""
        return self.known_posterior.probabilities

    @property
    def candidates(self) -> Array:
        """(n, 3) the candidate illuminants, unit length."""
        return self.known_posterior.candidates

    @property
    def gains(self) -> tuple[float, float, float]:
        """(r, 1, b) multipliers that make white neutral."""
        red, green, blue = illuminants.gains(self.illuminant).tolist()
        return red, green, blue

    @property
    def user_wb(self) -> list[float]:
        """The gains as rawpy's `postprocess(user_wb=...)` takes them: red, green, blue, second green."""
        red, green, blue = self.gains
        return [red, green, blue, green]

    @property
    def cct(self) -> float | None:
        """Correlated colour temperature in kelvin; None where the camera's colour matrix is not known."""
        return self._temperature.cct if self._temperature else None

    @property
    def duv(self) -> float | None:
        """Distance from the Planckian locus in CIE 1960 uv (positive: greenish); None as for `cct`."""
        return self._temperature.duv if self._temperature else None

    @property
    def confidence(self) -> float | None:
        """None: no calibrated confidence is available yet."""
        return None

    def credible_degrees(self, share: float) -> float | None:
        """None: no calibrated credible radius for this share of the posterior is available yet."""
        if not 0 < share < 1:
            raise GreycardError(f"share: expected a number between 0 and 1, got {share}")
        return None

    def alternatives(self, count: int = 3) -> list[Alternative]:
        """The `count` most probable separate explanations, most probable first; the first is the dominant one.

        None at all where there is no posterior.
        """
        if self.posterior is None:
            return []
        modes = self.posterior.modes()[:count]
        lights = self._temperatures_of([mode.illuminant for mode in modes])
        return [
            Alternative(mode.illuminant, mode.probability, light.cct if light else None, light_name(light))
            for mode, light in zip(modes, lights, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """What `greycard estimate --json` prints for one picture."""
        return {
            "file": self.name,
            "camera": self.camera,
            "illuminant": [round(value, 6) for value in self.illuminant.tolist()],
            "gains": [round(value, 6) for value in self.gains],
            "cct": None if self.cct is None else round(self.cct, 1),
            "duv": None if self.duv is None else round(self.duv, 5),
            "confidence": self.confidence,
            "credible_degrees": {"50": self.credible_degrees(0.5), "90": self.credible_degrees(0.9)},
            "alternatives": [
                {
                    "illuminant": [round(value, 6) for value in other.illuminant.tolist()],
                    "probability": round(other.probability, 6),
                    "cct": None if other.cct is None else round(other.cct, 1),
                    "name": other.name,
                }
                for other in self.alternatives(3)
            ],
            "warnings": list(self.warnings),
            "candidates_from": self.candidates_from,
            "as_shot": None if self.as_shot is None else [round(value, 6) for value in self.as_shot.tolist()],
        }

    @property
    def known_posterior(self) -> Posterior:
        """The posterior; where there is none, that is an error."""
        if self.posterior is None:
            raise GreycardError(f"{self.name}: the method that estimated its light gives no probabilities")
        return self.posterior

    @cached_property
    def _temperature(self) -> Temperature | None:
        return self._temperatures_of([self.illuminant])[0]

    def _temperatures_of(self, lights: list[Array]) -> list[Temperature | None]:
        matrices = self.matrices or (cameras.colour_matrices(self.camera) if self.camera else None)
        return [None] * len(lights) if matrices is None else matrices.temperatures(lights)


@dataclass(frozen=True)
class _Source:
    """A thumbnail without a file: what a `Photo` tells, as far as it is known."""

    name: str
    camera: str | None
    matrices: ColourMatrices | None = None
    as_shot: Array | None = None
    balanced: bool = False
    notes: tuple[str, ...] = ()


class _Choice(NamedTuple):
    """The candidates for a picture. camera: what took it, as far as is known. origin: in words, whence they come."""

    camera: str | None
    candidates: CandidateSet
    origin: str
    warnings: list[str]


class Estimator:
    """Estimates the light of pictures with one model.

    >>> import greycard, numpy
    >>> estimator = greycard.load()
    >>> grey = numpy.random.default_rng(0).uniform(0.1, 0.8, (100, 100, 1)) * [0.4, 0.8, 0.5]
    >>> estimate = estimator.estimate(grey, camera="Canon EOS 5D")
    >>> len(estimate.probabilities), round(float(estimate.probabilities.sum()), 6)
    (120, 1.0)
    """

    def __init__(self, model: Model, speed: Speed = "default", *, camera_files: Iterable[str | Path] = ()) -> None:
        """Use a model that is loaded already; `greycard.load` does both, and explains the rest."""
        self.model = model
        self.camera_files = camera_file.read_all(camera_files)
        if self.camera_files and model.any_camera.gain is not None:
            raise GreycardError(
                f"the model {model.name!r} has learned gain and bias for its own candidates; those of camera files "
                "need a model for many cameras, such as the bundled one"
            )
        effort = effort_of(speed)
        # What depends on the camera alone is kept for its next picture.
        self._by_matrix = lru_cache(maxsize=32)(
            lambda matrices: candidate_selection.from_colour_matrix(matrices, model.cameras)
        )
        self._with_matrix = lru_cache(maxsize=32)(
            lambda camera, matrices: joined(model.cameras[camera], self._by_matrix(matrices), _LABELS_SHARE)
        )
        self._scorer = lru_cache(maxsize=32)(lambda candidates: Scorer(model.network, candidates, effort))

    def estimate(
        self,
        source: str | Path | ArrayLike,
        camera: str | None = None,
        *,
        candidates: ArrayLike | CandidateSet | None = None,
        black: ArrayLike = 0.0,
        white: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        assume_srgb: bool = False,
        region: tuple[float, float, float, float] | None = None,
        shading: ArrayLike | None = None,
    ) -> Estimate:
        """Estimate the light of a file or of linear pixels (H, W, 3).

        camera: whose candidates to use; by default those of the camera that the file names; where that is not known,
        candidates from the colour matrix in the file; and where there is none, those of all cameras, with a warning.
        candidates: (n, 3) candidates of your own instead, or a set with a prior. region: look at this part only: left,
        top, right, bottom as fractions. shading: (h, w) or (h, w, 3) gains over the frame that undo the lens's shading,
        in place of those in the file. The rest is as in `photo.read` and `photo.from_array`.
        """
        if isinstance(source, str | Path):
            picture = photo.read(source, black=black, white=white, mask=mask, assume_srgb=assume_srgb)
        else:
            picture = photo.from_array(source, black=black, white=white, mask=mask, assume_srgb=assume_srgb)
        return self.estimate_photo(picture, camera, candidates=candidates, region=region, shading=shading)

    def estimate_photo(
        self,
        picture: Photo,
        camera: str | None = None,
        *,
        candidates: ArrayLike | CandidateSet | None = None,
        region: tuple[float, float, float, float] | None = None,
        shading: ArrayLike | None = None,
    ) -> Estimate:
        """Estimate the light of a photo that is read already; the rest is as in `estimate`."""
        return self._estimate(thumbnail.from_part(picture, region, shading), picture, camera, candidates)

    def estimate_thumbnail(
        self,
        cells: NDArray[np.generic],
        camera: str | None = None,
        *,
        camera_of_file: str | None = None,
        candidates: ArrayLike | CandidateSet | None = None,
        name: str = "thumbnail",
        grid: int = thumbnail.SIZE,
    ) -> Estimate:
        """Estimate the light of a thumbnail (64, 64, 3): linear, black removed, masked cells 0 in all channels.

        camera: whose candidates to use; a name that is not known is an error. camera_of_file: what took the picture
        as far as its source says; used where `camera` is not given, and only warned about where it is not known.
        grid: look at it in this many cells along each side, averages of those given, where these are too noisy.
        """
        source = _Source(name, camera_of_file)
        if grid == thumbnail.SIZE:
            return self._estimate(np.asarray(cells), source, camera, candidates)
        return self._estimate(thumbnail.coarser(cells, grid, grid), source, camera, candidates, grid)

    def from_colour_matrix(self, matrices: ColourMatrices) -> CandidateSet:
        """Candidates for a camera of which only the colour matrix is known, with a prior by the model's cameras."""
        return self._by_matrix(matrices)

    def scores(self, thumbnails: Iterable[NDArray[np.generic]], chosen: CandidateSet) -> NDArray[np.float32]:
        """(pictures, n) log-likelihoods of thumbnails (64, 64, 3) under candidates."""
        images = (thumbnail.log_image(cells) for cells in thumbnails)
        return np.stack([self._scorer(chosen).log_likelihoods(image) for image in images])

    def estimate_thumbnails(
        self,
        thumbnails: Sequence[NDArray[np.generic]] | NDArray[np.generic],
        camera: str | None = None,
        *,
        candidates: ArrayLike | CandidateSet | None = None,
        processes: int = 1,
    ) -> Iterator[Estimate]:
        """Estimate the light of many thumbnails of one camera, in their order.

        thumbnails: (n, 64, 64, 3), or a list of (64, 64, 3). processes: how many work at once; they take a second to
        start, so that more than one pays for many hundreds of pictures. The rest is as in `estimate_thumbnail`.
        """
        chosen = self._candidates(_Source("thumbnails", None), camera, candidates)
        yield from many(_OneOfMany(self._scorer(chosen.candidates), chosen), thumbnails, processes)

    def _estimate(
        self,
        cells: NDArray[np.generic],
        source: Photo | _Source,
        camera: str | None,
        candidates: ArrayLike | CandidateSet | None,
        grid: int = thumbnail.SIZE,
    ) -> Estimate:
        """The three stages: candidates, likelihood, posterior."""
        image = thumbnail.log_image(cells, source.name, (grid, grid))
        chosen = self._candidates(source, camera, candidates)
        return _answer(cells, source, self._scorer(chosen.candidates).log_likelihoods(image), chosen)

    def _candidates(
        self, source: Photo | _Source, camera: str | None, given: ArrayLike | CandidateSet | None
    ) -> _Choice:
        """The candidates for a picture.

        Those given; or those of a camera file, or from labels, of the camera that the user or else the file names, the
        latter with some of the file's colour matrix; or those from the file's colour matrix alone; or those of all
        cameras.
        """
        if given is not None:
            given = given if isinstance(given, CandidateSet) else CandidateSet(candidate_selection.check(given))
            return _Choice(camera or source.camera, given, "given", [])
        known_cameras = [*self.camera_files, *self.model.cameras]
        if camera is None and source.camera and not source.balanced:
            camera = source.camera if cameras.is_known(source.camera, known_cameras) else None
        told = ["its values were balanced before they were stored, which candidates from labels do not allow for"]
        warnings = told if source.balanced else []
        if camera is not None and cameras.is_known(camera, self.camera_files):
            known = cameras.find(camera, self.camera_files)
            return _Choice(known, self.camera_files[known], f"camera file of {known}", warnings)
        # What a model has learned for its own candidates does not hold for others.
        matrices = source.matrices if self.model.any_camera.gain is None else None
        if camera is not None:
            known = cameras.find(camera, known_cameras)
            if matrices is None or source.balanced:
                return _Choice(known, self.model.cameras[known], f"labels of {known}", warnings)
            return _Choice(
                known, self._with_matrix(known, matrices), f"labels of {known} and colour matrix of the file", []
            )
        if matrices is not None:
            return _Choice(source.camera, self.from_colour_matrix(matrices), "colour matrix of the file", [])
        warnings = self._shared_candidates_warning(source.camera)
        return _Choice(source.camera, self.model.any_camera, "labels of all cameras", warnings)

    def _shared_candidates_warning(self, camera_of_file: str | None) -> list[str]:
        everybodys = self.model.any_camera.illuminants
        shared = all(np.array_equal(one.illuminants, everybodys) for one in self.model.cameras.values())
        if camera_of_file is None and shared:
            return []
        if camera_of_file is None:
            unknown = "no camera is named"
        elif cameras.is_known(camera_of_file, self.model.cameras):
            unknown = f"the candidates of {camera_of_file} do not fit values that were balanced before they were stored"
        else:
            unknown = f"the camera {camera_of_file} is not known"
        return [f"{unknown}: candidates of {', '.join(self.model.cameras)} were used, which costs accuracy"]


@dataclass(frozen=True, eq=False)
class _OneOfMany:
    """Estimates one of many thumbnails with the same candidates; can be sent to another process."""

    scorer: Scorer
    chosen: _Choice

    def __call__(self, number: int, cells: NDArray[np.generic]) -> Estimate:
        source = _Source(f"thumbnail {number}", None)
        return _answer(cells, source, self.scorer.log_likelihoods(thumbnail.log_image(cells, source.name)), self.chosen)


def _answer(
    cells: NDArray[np.generic], source: Photo | _Source, scores: NDArray[np.float32], chosen: _Choice
) -> Estimate:
    """The last stage. scores: (n,) log-likelihoods of the candidates."""
    candidates = chosen.candidates
    result = posterior(scores, candidates.illuminants, candidates.gain, candidates.bias)
    return Estimate(
        result.mean(),
        result,
        chosen.camera,
        source.name,
        (*source.notes, *chosen.warnings, *_picture_warnings(cells, result)),
        source.matrices,
        source.as_shot,
        chosen.origin,
    )


def load(
    name_or_path: str | Path | None = None, speed: Speed = "default", *, camera_files: Iterable[str | Path] = ()
) -> Estimator:
    """An estimator with the bundled model, another bundled one by its name, or a model file by its path.

    speed: "exact" evaluates all candidates on all cells and is the reference; "default" hardly differs from
    it; "live" is faster still, and differs more. docs/speed.md says how.
    camera_files: files, or folders of files, with candidates of cameras (`greycard candidates build`); for the pictures
    of these cameras they take the place of what the model knows.
    """
    return Estimator(model_file.load(name_or_path), speed, camera_files=camera_files)


def light_name(light: Temperature | None) -> str | None:
    """An everyday name for a light of this temperature and tint."""
    if light is None:
        return None
    if light.duv > 0.012 and light.cct > 3000:
        return "fluorescent or foliage"
    for highest, name in (
        (2400, "candle or dim lamp"),
        (3300, "incandescent"),
        (4300, "warm white"),
        (5900, "daylight"),
    ):
        if light.cct < highest:
            return name
    return "overcast" if light.cct < 7500 else "shade or blue sky"


def _picture_warnings(cells: NDArray[np.generic], result: Posterior) -> list[str]:
    """What a user should know of this picture before relying on the estimate."""
    warnings = []
    usable = float(np.mean(thumbnail.valid_cells(cells)))
    if usable < 0.5:
        warnings.append(f"only {usable:.0%} of the picture could be used; the rest is black, clipped or masked")
    modes = result.modes(at_least=_RIVAL)
    if len(modes) > 1 and modes[1].probability >= _RIVAL:
        apart = float(illuminants.angular_error(modes[0].illuminant, modes[1].illuminant))
        warnings.append(
            f"another light is nearly as plausible: {apart:.1f} degrees away, "
            f"with {modes[1].probability:.0%} of the probability"
        )
    return warnings
