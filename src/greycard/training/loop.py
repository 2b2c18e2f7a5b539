"""Training: reads from top to bottom in `train`.

A step takes images of one camera, draws a few random cells of each, shifts their first-layer features by every
candidate, and pushes the posterior mean towards the truth. The first layer is frozen and a candidate is a shift, so
only the drawn cells are ever convolved: 27 x 64 multiplications a cell, against 120 x 12,288 in the layers above.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from greycard import candidates as candidate_selection
from greycard.datasets.packed import Packed
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.model_file import CandidateSet, Model, TrainingImages
from greycard.output import write_whole
from greycard.thumbnail import SIZE, log_image
from greycard.training.network import LikelihoodNetwork, angular_loss
from greycard.training.recipe import Recipe

_IMAGES_AT_ONCE = 2
"""Images whose activations are held at a time. Larger buffers are fetched afresh from the system for each step, which
costs more than the arithmetic."""
_ANY_CAMERA_CANDIDATES = 240
"""Candidates for a picture whose camera nobody names, chosen among those of all cameras."""


@dataclass(frozen=True)
class Progress:
    """Where a run is: epochs done, of how many, and the mean training error (degrees) of the last one."""

    epoch: int
    epochs: int
    error: float


def train(
    data: Packed,
    recipe: Recipe,
    *,
    name: str = "model",
    checkpoint: Path | None = None,
    report: Callable[[Progress], object] = lambda progress: None,
) -> Model:
    """Train a network on all of `data`.

    checkpoint: a file that is written after every epoch; where it exists already, the run goes on from it, and ends
    with the same weights as one that was never interrupted.
    report: called after every epoch.
    """
    torch.manual_seed(recipe.seed)
    network = LikelihoodNetwork(recipe.dropout)
    images = TrainingCells(data)
    sets = choose_candidates(data, recipe)
    gain, bias = nn.Parameter(torch.ones(len(sets[0]))), nn.Parameter(torch.zeros(len(sets[0])))
    learned = recipe.gain_bias == "learned"
    parameters = [*network.parameters(), *([gain, bias] if learned else [])]
    optimizer = torch.optim.Adam(parameters, lr=recipe.learning_rate)
    started = load_checkpoint(checkpoint, parameters, optimizer, data, recipe) if checkpoint else 0

    network.train()
    for epoch in range(started, recipe.epochs):
        # Each epoch has a seed of its own, so that a resumed run draws what an uninterrupted one would have drawn.
        generator = np.random.default_rng([recipe.seed, epoch])
        torch.manual_seed(int(generator.integers(2**62)))
        batches = draw_batches(sets.of_image, recipe.batch, generator)
        total = 0.0
        for step, batch in enumerate(batches):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(recipe, epoch + step / len(batches))
            candidates = sets[int(sets.of_image[batch[0]])]
            lights = draw_lights(data.illuminants, sets.of_image, batch, recipe.relight, generator)
            features = network.first_layer(images.draw(batch, lights, recipe.cells, generator))
            truths = torch.from_numpy(lights.astype(np.float32))
            optimizer.zero_grad()
            for part in range(0, len(batch), _IMAGES_AT_ONCE):
                few = slice(part, part + _IMAGES_AT_ONCE)
                scores = network(features[few], candidates)
                if learned:
                    scores = gain * scores + bias
                estimates = torch.softmax(scores, dim=1) @ candidates
                errors = angular_loss(estimates, truths[few])
                (errors.sum() / len(batch)).backward()  # type: ignore[no-untyped-call]
                total += float(errors.sum().detach())
            optimizer.step()
        if checkpoint:
            save_checkpoint(checkpoint, parameters, optimizer, data, recipe, epoch + 1)
        report(Progress(epoch + 1, recipe.epochs, total / len(data)))

    return Model(
        name=name,
        network=network.to_numpy(),
        cameras=_camera_sets(data, sets, recipe, gain, bias),
        any_camera=_any_camera(sets),
        trained_on=TrainingImages(data.datasets, data.names, data.digests()),
        recipe=asdict(recipe),
    )


class TrainingCells:
    """The log images of a data set, from which random cells are drawn with their 3x3 neighbourhoods.

    Under another light, a picture is the same but for the ratio of the lights in each channel, and for the exposure,
    which is divided out as in `thumbnail.log_image`.
    """

    def __init__(self, data: Packed) -> None:
        """Prepare all images; one that has too few valid cells is refused by its name."""
        edge = SIZE + 2
        self._padded = np.empty((len(data), edge * edge, 3), dtype=np.float32)
        self._counted = []
        self._illuminants = data.illuminants
        self._means = np.empty((len(data), 3))  # of each channel over the valid cells; their mean is 1
        for index, (image, name) in enumerate(zip(data.images, data.names, strict=True)):
            logs = log_image(image, str(name))
            valid = np.all(image > 0, axis=-1)
            self._means[index] = image[valid].mean(axis=0) / image[valid].mean()
            self._padded[index] = np.pad(logs.values, ((1, 1), (1, 1), (0, 0)), mode="edge").reshape(-1, 3)
            rows, columns = np.nonzero(logs.counted)
            self._counted.append(rows * edge + columns)
        self._neighbours = np.add.outer(edge * np.arange(3), np.arange(3)).reshape(-1)

    def draw(self, batch: NDArray[np.intp], lights: Array, cells: int, generator: np.random.Generator) -> Tensor:
        """(images, cells, 27) patches around random cells that count, drawn with replacement.

        lights: (images, 3) the illuminants under which to show the images.
        """
        corners = np.stack([generator.choice(self._counted[image], cells) for image in batch])
        patches = self._padded[batch[:, None, None], corners[:, :, None] + self._neighbours]
        ratios = lights / self._illuminants[batch]
        exposures = (self._means[batch] * ratios).mean(axis=1, keepdims=True)
        patches += np.log(ratios / exposures).astype(np.float32)[:, None, None]
        return torch.from_numpy(patches.reshape(len(batch), cells, 27))


class CandidateSets(list[Tensor]):
    """Candidates (n, 3) of each group of images that share a set, and `of_image` (N,): which set an image has."""

    def __init__(self, sets: list[Tensor], of_image: NDArray[np.intp]) -> None:
        """`of_image` holds an index into `sets` for each image."""
        super().__init__(sets)
        self.of_image = of_image


def choose_candidates(data: Packed, recipe: Recipe) -> CandidateSets:
    """One set of candidates from all labels, or one for each camera from its own."""
    groups = data.cameras if recipe.cameras == "each" else np.zeros(len(data), dtype=np.int8)
    _, of_image = np.unique(groups, return_inverse=True)
    sets = [
        candidate_selection.select(
            data.illuminants[of_image == group],
            recipe.candidates,
            recipe.strategy,
            space=recipe.space,
            seed=recipe.seed,
        )
        for group in range(int(of_image.max()) + 1)
    ]
    return CandidateSets([torch.from_numpy(chosen.astype(np.float32)) for chosen in sets], of_image)


def draw_batches(groups: NDArray[np.intp], size: int, generator: np.random.Generator) -> list[NDArray[np.intp]]:
    """All images once, in batches of one group each; the batches in random order."""
    batches = []
    for group in range(int(groups.max()) + 1):
        members = generator.permutation(np.flatnonzero(groups == group))
        batches += np.array_split(members, math.ceil(len(members) / size))
    return [batches[index] for index in generator.permutation(len(batches))]


def draw_lights(
    illuminants: Array,
    groups: NDArray[np.intp],
    batch: NDArray[np.intp],
    relight: float,
    generator: np.random.Generator,
) -> Array:
    """(images, 3) the light of each image of a batch: its own, or for a share `relight` another of the group."""
    others = generator.choice(np.flatnonzero(groups == groups[batch[0]]), len(batch))
    relit = generator.random(len(batch)) < relight
    return np.asarray(illuminants[np.where(relit, others, batch)])


def learning_rate(recipe: Recipe, epoch: float) -> float:
    """The rate at a (fractional) epoch."""
    done = epoch / recipe.epochs
    if recipe.schedule == "cosine":
        return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
    return recipe.learning_rate * 0.5 ** sum(done >= mark / 120 for mark in (10, 50, 80))


def save_checkpoint(
    path: Path,
    parameters: list[nn.Parameter],
    optimizer: torch.optim.Optimizer,
    data: Packed,
    recipe: Recipe,
    epochs: int,
) -> None:
    """Parameters and Adam's moments after so many epochs; random numbers depend on the epoch alone."""
    tensors = {}
    for index, parameter in enumerate(parameters):
        tensors[f"value.{index}"] = parameter.detach()
        for key, moment in optimizer.state[parameter].items():
            tensors[f"{key}.{index}"] = moment
    about = {"run": _identity(data, recipe), "epochs": str(epochs)}
    write_whole(path, safetensors.torch.save({key: tensor.contiguous() for key, tensor in tensors.items()}, about))


def load_checkpoint(
    path: Path, parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer, data: Packed, recipe: Recipe
) -> int:
    """Go on from a checkpoint: the number of epochs that are done; 0 where there is none."""
    if not path.exists():
        return 0
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            about, tensors = file.metadata(), {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        epochs = int(about["epochs"])
        run = about["run"]
    except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise GreycardError(f"{path}: is not a checkpoint of greycard; remove it to start afresh") from error
    if run != _identity(data, recipe):
        raise GreycardError(f"{path}: belongs to a run with another recipe or other images; remove it to start afresh")
    with torch.no_grad():
        for index, parameter in enumerate(parameters):
            parameter.copy_(tensors[f"value.{index}"])
            keys = ("step", "exp_avg", "exp_avg_sq")
            optimizer.state[parameter] = {key: tensors[f"{key}.{index}"] for key in keys}
    return epochs


def _identity(data: Packed, recipe: Recipe) -> str:
    """What must be the same for a run to go on: recipe, images and labels."""
    labels = np.round(data.illuminants, 6).tobytes().hex()
    content = json.dumps([asdict(recipe), data.digests().tolist(), labels])
    return hashlib.sha256(content.encode()).hexdigest()


def _camera_sets(
    data: Packed, sets: CandidateSets, recipe: Recipe, gain: Tensor, bias: Tensor
) -> dict[str, CandidateSet]:
    """The candidates of each camera, with gain and bias where they were learned."""
    learned = recipe.gain_bias == "learned"
    found = {}
    for camera in np.unique(data.cameras):
        candidates = sets[int(sets.of_image[data.cameras == camera][0])].numpy().astype(np.float64)
        found[str(camera)] = CandidateSet(
            candidates, gain.detach().numpy() if learned else None, bias.detach().numpy() if learned else None
        )
    return found


def _any_camera(sets: CandidateSets) -> CandidateSet:
    together = np.concatenate([candidates.numpy() for candidates in sets]).astype(np.float64)
    return CandidateSet(candidate_selection.select(together, _ANY_CAMERA_CANDIDATES))
