"""How much faster is a training step than the literal one, which runs every layer for all candidates over all cells?

    python benchmarks/training_step.py DATA.npz

Both go forward and backward on the same images of one batch, in turn, so that a busy machine slows both. The literal
step is measured on a few images, because it takes seconds for each; the time of a step is proportional to the number of
its images in both. greycard's step draws as many cells and candidates as the recipe says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np
import torch

from greycard.datasets import packed
from greycard.thumbnail import log_image
from greycard.training import recipe as recipes
from greycard.training.loop import _IMAGES_AT_ONCE, TrainingCells, choose_candidates, draw_candidates
from greycard.training.network import LikelihoodNetwork, angular_loss, literal_log_likelihoods


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set (.npz)")
    parser.add_argument("--recipe", default="one-camera")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    recipe = recipes.load(arguments.recipe)
    data = packed.load(arguments.data)
    candidates = choose_candidates(data, recipe).candidates[0]
    truths = torch.from_numpy(data.illuminants.astype(np.float32))
    network, cells = LikelihoodNetwork(recipe.dropout), TrainingCells(data)
    generator = np.random.default_rng(0)
    batch = generator.permutation(len(data))[: recipe.batch]
    logs = [log_image(data.images[index]) for index in batch[: arguments.repeats]]

    def backward(scores, candidates, of_images) -> None:
        estimates = torch.softmax(scores, dim=1) @ candidates
        angular_loss(estimates, truths[of_images]).sum().backward()

    def fast() -> None:
        features = network.first_layer(cells.draw(batch, data.illuminants[batch], recipe.cells, generator))
        some = candidates[draw_candidates(len(candidates), recipe.step_candidates, generator)]
        for part in range(0, len(batch), _IMAGES_AT_ONCE):
            few = slice(part, part + _IMAGES_AT_ONCE)
            backward(network(features[few], some), some, batch[few])

    def literal(index) -> None:
        image, counted = torch.from_numpy(logs[index].values), torch.from_numpy(logs[index].counted)
        scores = literal_log_likelihoods(network, image, counted, candidates)[None]
        backward(scores, candidates, batch[index : index + 1])

    fast()
    times = [(seconds(fast) / len(batch), seconds(lambda i=i: literal(i))) for i in range(arguments.repeats)]
    fast_time, literal_time = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        json.dumps(
            {
                "cells": recipe.cells,
                "candidates": recipe.step_candidates or len(candidates),
                "threads": torch.get_num_threads(),
                "step_seconds": {"greycard": fast_time * recipe.batch, "literal": literal_time * recipe.batch},
                "speedup": round(literal_time / fast_time, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
