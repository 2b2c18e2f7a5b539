"""Training: reads from top to bottom in `train`.

A step takes images of one camera, draws a few random cells of each and some of the candidates, shifts the cells'
first-layer features by each candidate, and pushes the posterior mean towards the truth. The first layer is frozen and
a candidate is a shift, so only the drawn cells are ever convolved: 27 x 64 multiplications a cell, against 12,288 a
cell and candidate in the layers above.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from greycard import candidates as candidate_selection
from greycard.candidates import CandidateSet
from greycard.datasets.packed import Packed
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.model_file import Model, TrainingImages
from greycard.thumbnail import SIZE, log_image
from greycard.training import checkpoint as checkpoints
from greycard.training.checkpoint import Done
from greycard.training.network import LikelihoodNetwork, angular_loss
from greycard.training.recipe import Recipe
from greycard.training.sharpness import best_factor, sharpened

_IMAGES_AT_ONCE = 4
"""Images whose activations are held at a time. Larger buffers are fetched afresh from the system for each step, which
costs more than the arithmetic."""
_ANY_CAMERA_CANDIDATES = 240
"""Candidates for a picture whose camera nobody names, chosen among those of all cameras."""


def train(
    data: Packed,
    recipe: Recipe,
    *,
    start: Model | None = None,
    name: str = "model",
    checkpoint: Path | None = None,
    report: Callable[[Done], object] = lambda done: None,
) -> Model:
    """Train a network on all of `data`.

    start: a model whose network is trained further, instead of one with random weights.
    checkpoint: a file that is written after every epoch; where it exists already, the run goes on from it, and ends
    with the same weights as one that was never interrupted.
    report: called after every epoch.
    """
    torch.manual_seed(recipe.seed)
    network = LikelihoodNetwork(recipe.dropout)
    if start is not None:
        network.start_from(start.network, last_layer=not recipe.fresh_last_layer)
    parameters = list(network.parameters())
    images, sets = TrainingCells(data), choose_candidates(data, recipe)
    gain = bias = None
    if recipe.gain_bias == "learned":
        gain, bias = (nn.Parameter(torch.full((len(sets.candidates[0]),), start)) for start in (1.0, 0.0))
        parameters += [gain, bias]
    optimizer = torch.optim.Adam(parameters, lr=recipe.learning_rate)
    run = checkpoints.run_identity(data, recipe, start)
    done = checkpoints.load(checkpoint, run, parameters, optimizer) if checkpoint else Done()

    network.train()
    for epoch in range(done.epochs, recipe.epochs):
        started = time.monotonic()
        # Each epoch has a seed of its own, so that a resumed run draws what an uninterrupted one would have drawn.
        generator = np.random.default_rng([recipe.seed, epoch])
        torch.manual_seed(int(generator.integers(2**62)))
        batches = draw_batches(sets.of_image, recipe.batch, generator)
        total = 0.0
        for step, batch in enumerate(batches):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(recipe, epoch + step / len(batches))
            candidates = sets.candidates[sets.of_image[batch[0]]]
            drawn = draw_candidates(len(candidates), recipe.step_candidates, generator)
            lights = draw_lights(data.illuminants, sets.of_image, batch, recipe.relight, generator)
            features = network.first_layer(images.draw(batch, lights, recipe.cells, generator))
            truths = torch.from_numpy(lights.astype(np.float32))
            optimizer.zero_grad()
            for part in range(0, len(batch), _IMAGES_AT_ONCE):
                few = slice(part, part + _IMAGES_AT_ONCE)
                scores = network(features[few], candidates[drawn])
                if gain is not None and bias is not None:
                    scores = gain[drawn] * scores + bias[drawn]
                estimates = torch.softmax(scores, dim=1) @ candidates[drawn]
                errors = angular_loss(estimates, truths[few])
                (errors.sum() / len(batch)).backward()  # type: ignore[no-untyped-call]
                total += float(errors.sum().detach())
            optimizer.step()
        done = Done(epoch + 1, done.seconds + time.monotonic() - started, total / len(data))
        if not math.isfinite(done.error):
            raise GreycardError(f"epoch {epoch + 1}: the training error is no longer a number; lower the learning_rate")
        if checkpoint:
            checkpoints.save(checkpoint, run, done, parameters, optimizer)
        report(done)

    kept = _candidate_sets(sets, data.illuminants, gain, bias)
    weights = network.to_numpy()
    if recipe.sharpen:
        weights = sharpened(weights, best_factor(weights, data, kept, sets.of_image, recipe.seed))
    seen = TrainingImages(data.datasets, data.names, data.digests())
    return Model(
        name=name,
        network=weights,
        cameras={str(camera): kept[group] for camera, group in zip(data.cameras, sets.of_image, strict=True)},
        any_camera=_any_camera(kept),
        trained_on=seen if start is None else start.trained_on.and_also(seen),
        recipe=asdict(recipe),
        results={"run": run, "training_error": done.error, "training_seconds": round(done.seconds, 1)},
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


@dataclass(frozen=True)
class CandidateSets:
    """The candidates (n, 3) of each group of images that share them, and `of_image` (N,): the group of an image."""

    candidates: list[Tensor]
    of_image: NDArray[np.intp]


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


def draw_candidates(count: int, wanted: int, generator: np.random.Generator) -> Tensor:
    """Which of `count` candidates a step looks at: `wanted` of them at random, or all where that is 0 or too many.

    A posterior over some of the candidates is a rougher one of the same kind, and costs as much less.
    """
    drawn = generator.choice(count, wanted, replace=False) if 0 < wanted < count else np.arange(count)
    return torch.from_numpy(np.sort(drawn))


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


def _candidate_sets(
    sets: CandidateSets, illuminants: Array, gain: Tensor | None, bias: Tensor | None
) -> list[CandidateSet]:
    """The sets as a model keeps them: with the gain and bias that were learned, or with the labels' own prior."""
    kept = []
    for group, chosen in enumerate(sets.candidates):
        candidates = chosen.numpy().astype(np.float64)
        if gain is not None and bias is not None:
            kept.append(CandidateSet(candidates, gain.detach().numpy(), bias.detach().numpy()))
        else:
            labels = illuminants[sets.of_image == group]
            kept.append(CandidateSet(candidates, bias=candidate_selection.log_prior(labels, candidates)))
    return kept


def _any_camera(sets: list[CandidateSet]) -> CandidateSet:
    """Candidates for a picture whose camera is not known: the only set, or a choice among all of them."""
    if len(sets) == 1:
        return sets[0]
    together = np.concatenate([candidates.illuminants for candidates in sets])
    return CandidateSet(candidate_selection.select(together, _ANY_CAMERA_CANDIDATES))
