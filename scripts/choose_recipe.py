"""Compare recipes without touching a test fold: validate on a part of each fold's training part.

    python scripts/choose_recipe.py DATA.npz one-camera mine.toml ...
    python scripts/choose_recipe.py nus8.npz fine-tune-many mine.toml --by scene_folds --from without-nus8.safetensors

For each of the data set's folds, the images of the other folds are split again: blocks of ten images in turn, two
thirds to train on and the rest to score. With --by scene_folds, one of the other folds is for training and one for
scoring, so that no scene is in both. No image is ever scored in the fold where it is a test image, so the figures may
decide about a recipe. Prints the pooled statistics of each recipe.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from greycard import model_file
from greycard.datasets import packed
from greycard.datasets.packed import FoldColumn, Packed
from greycard.estimator import Estimator
from greycard.evaluation import evaluate
from greycard.model_file import Model
from greycard.statistics import summary
from greycard.training import recipe as recipes
from greycard.training.loop import train


def inner_errors(
    data: Packed, recipe: recipes.Recipe, by: FoldColumn, start: Model | None, turns: list[int]
) -> np.ndarray:
    numbers, errors = data.fold_numbers(by), []
    for turn, fold in enumerate(np.unique(numbers)):
        if turn not in turns:
            continue
        training = data.where(numbers != fold)
        if by == "scene_folds":
            held_out = training.fold_numbers(by) == np.unique(training.fold_numbers(by))[(turn + 1) % 2]
        else:
            held_out = (np.arange(len(training)) // 10) % 3 == turn % 3
        model = train(training.where(~held_out), recipe, start=start)
        scores = evaluate(Estimator(model), training.where(held_out), candidates="model", speed="default")
        errors.append(scores.angular_errors)
    return np.concatenate(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set (.npz) with folds")
    parser.add_argument("recipes", nargs="+", help="names of bundled recipes or TOML files")
    parser.add_argument("--by", choices=("folds", "scene_folds"), default="folds")
    parser.add_argument("--from", dest="start", help="a model to train further")
    parser.add_argument(
        "--turns", type=int, nargs="+", default=[0, 1, 2], help="for which of the folds; by default all"
    )
    arguments = parser.parse_args()
    data = packed.load(arguments.data)
    start = model_file.load(arguments.start) if arguments.start else None
    for name in arguments.recipes:
        found = summary(inner_errors(data, recipes.load(name), arguments.by, start, arguments.turns))
        print(json.dumps({"recipe": name, **{key: round(value, 3) for key, value in found.items()}}), flush=True)


if __name__ == "__main__":
    main()
