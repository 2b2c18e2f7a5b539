"""A model as one `.safetensors` file: weights, candidate sets, recipe, and the list of images it was trained on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greycard import candidates as candidate_selection
from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.likelihood import SHAPES, Network
from greycard.output import write_whole

FORMAT = 1
"""Version of the file format; a file of a newer one is refused."""
_LARGEST = 64_000_000
"""Bytes: a larger file is no greycard model."""


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """What a model has seen: data set and name of each image, and a digest of its pixels that survives renaming."""

    datasets: NDArray[np.str_]
    names: NDArray[np.str_]
    digests: NDArray[np.uint64]

    def and_also(self, others: TrainingImages) -> TrainingImages:
        """These images and the others."""
        return TrainingImages(
            np.concatenate([self.datasets, others.datasets]),
            np.concatenate([self.names, others.names]),
            np.concatenate([self.digests, others.digests]),
        )


@dataclass(frozen=True, eq=False)
class Model:
    """A trained network with the candidates of the cameras it knows.

    any_camera: candidates for a picture of which nobody says what took it.
    recipe, results: how it was trained and what that gave; for people, not used in an estimate.
    """

    name: str
    network: Network
    cameras: Mapping[str, CandidateSet]
    any_camera: CandidateSet
    trained_on: TrainingImages
    recipe: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)


def save(model: Model, path: str | Path) -> None:
    """Write a model file, whole or not at all."""
    import safetensors.numpy

    tensors: dict[str, NDArray[Any]] = {
        f"network.{weights.name}": getattr(model.network, weights.name) for weights in fields(model.network)
    }
    for index, candidate_set in enumerate([model.any_camera, *model.cameras.values()]):
        tensors[f"candidates.{index}"] = candidate_set.illuminants.astype(np.float32)
        for key, numbers in (("gain", candidate_set.gain), ("bias", candidate_set.bias)):
            if numbers is not None:
                tensors[f"{key}.{index}"] = numbers
    tensors["trained_on.digests"] = model.trained_on.digests
    about = {
        "format": FORMAT,
        "name": model.name,
        "cameras": list(model.cameras),
        "trained_on": [[str(dataset), names] for dataset, names in _by_dataset(model.trained_on)],
        "recipe": dict(model.recipe),
        "results": dict(model.results),
    }
    contiguous = {key: np.ascontiguousarray(tensor) for key, tensor in tensors.items()}
    write_whole(path, safetensors.numpy.save(contiguous, {"greycard": json.dumps(about)}))


def load(name_or_path: str | Path | None = None) -> Model:
    """A bundled model by its name (the default one without), or a model file by its path."""
    if name_or_path is None or str(name_or_path) in _bundled()["sha256"]:
        return _load_bundled(str(name_or_path or _bundled()["default"]))
    path = Path(name_or_path)
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        bundled = ", ".join(_bundled()["sha256"])
        raise GreycardError(
            f"model {str(name_or_path)[:200]!r}: not a bundled model ({bundled}), and no file that can be read "
            f"({error.strerror or error})"
        ) from error
    if len(data) > _LARGEST:
        raise GreycardError(f"{path}: is too large for a greycard model (over {_LARGEST:,} bytes)")
    return _parse(data, str(path))


def _bundled() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(resources.files("greycard").joinpath("models/bundled.json").read_text("utf-8"))
    return content


def _load_bundled(name: str) -> Model:
    data = resources.files("greycard").joinpath(f"models/{name}.safetensors").read_bytes()
    if hashlib.sha256(data).hexdigest() != _bundled()["sha256"][name]:
        raise GreycardError(f"bundled model {name!r}: its checksum does not match; reinstall greycard")
    return _parse(data, name)


def _parse(data: bytes, source: str) -> Model:
    import safetensors
    import safetensors.numpy

    try:
        about = _metadata(data)
        tensors = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise GreycardError(f"{source}: is not a greycard model file ({' '.join(str(error).split())[:100]})") from error
    if about["format"] > FORMAT:
        raise GreycardError(f"{source}: was written by a newer greycard (format {about['format']}); upgrade to read it")
    try:
        sets = [_candidate_set(tensors, index, source) for index in range(len(about["cameras"]) + 1)]
        return Model(
            name=str(about["name"]),
            network=_network(tensors, source),
            cameras=dict(zip(map(str, about["cameras"]), sets[1:], strict=True)),
            any_camera=sets[0],
            trained_on=_training_images(about["trained_on"], tensors["trained_on.digests"]),
            recipe=about["recipe"],
            results=about["results"],
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, GreycardError):
            raise
        raise GreycardError(f"{source}: is a greycard model file with parts missing or damaged ({error})") from error


def _metadata(data: bytes) -> dict[str, Any]:
    """greycard's own entry in the JSON header of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    about: dict[str, Any] = json.loads(header["__metadata__"]["greycard"])
    kinds = {"format": int, "name": str, "cameras": list, "trained_on": list, "recipe": dict, "results": dict}
    for key, kind in kinds.items():
        if not isinstance(about[key], kind):
            raise TypeError(f"{key} is not of type {kind.__name__}")
    return about


def _network(tensors: Mapping[str, NDArray[Any]], source: str) -> Network:
    arrays = {key: tensors[f"network.{key}"] for key in SHAPES}
    for key, shape in SHAPES.items():
        if arrays[key].shape != shape or not np.all(np.isfinite(arrays[key])):
            raise GreycardError(f"{source}: {key} should be finite and of shape {shape}, it has {arrays[key].shape}")
    return Network(**{key: array.astype(np.float32) for key, array in arrays.items()})


def _candidate_set(tensors: Mapping[str, NDArray[Any]], index: int, source: str) -> CandidateSet:
    illuminants = candidate_selection.check(tensors[f"candidates.{index}"], f"{source}: candidates")
    gain, bias = tensors.get(f"gain.{index}"), tensors.get(f"bias.{index}")
    for name, numbers in (("gain", gain), ("bias", bias)):
        if numbers is not None and (numbers.shape != (len(illuminants),) or not np.all(np.isfinite(numbers))):
            raise GreycardError(f"{source}: {name} must have {len(illuminants)} finite numbers")
    return CandidateSet(illuminants, gain, bias)


def _by_dataset(images: TrainingImages) -> list[tuple[str, list[str]]]:
    """Runs of images of one data set, in the order of the digests."""
    starts = [0, *(np.flatnonzero(images.datasets[1:] != images.datasets[:-1]) + 1).tolist(), len(images.names)]
    return [
        (str(images.datasets[start]), images.names[start:end].tolist())
        for start, end in pairwise(starts)
        if end > start
    ]


def _training_images(listed: list[tuple[str, list[str]]], digests: NDArray[np.uint64]) -> TrainingImages:
    datasets = [dataset for dataset, names in listed for _ in names]
    names = [name for _, names in listed for name in names]
    if digests.shape != (len(names),):
        raise ValueError("names and digests of the training images differ in number")
    return TrainingImages(np.array(datasets, dtype=np.str_), np.array(names, dtype=np.str_), digests.astype(np.uint64))
