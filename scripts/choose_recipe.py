"""Compare recipes without touching a test fold: validate on a third of each fold's training part.

    python scripts/choose_recipe.py DATA.npz one-camera mine.toml ...

For each of the data set's folds, the images of the other folds are split again, blocks of ten images in turn; a model
is trained on two thirds of them and scored on the rest. No image is ever scored in the fold where it is a test image,
so the figures may decide about a recipe. Prints the pooled statistics of each recipe.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from greycard.datasets import packed
from greycard.estimator import Estimator
from greycard.evaluation import evaluate
from greycard.statistics import summary
from greycard.training import recipe as recipes
from greycard.training.loop import train


def inner_errors(data: packed.Packed, recipe: recipes.Recipe) -> np.ndarray:
    numbers, errors = data.fold_numbers("folds"), []
    for turn, fold in enumerate(np.unique(numbers)):
        training = data.where(numbers != fold)
        held_out = (np.arange(len(training)) // 10) % 3 == turn % 3
        model = train(training.where(~held_out), recipe)
        errors.append(evaluate(Estimator(model), training.where(held_out), candidates="model").angular_errors)
    return np.concatenate(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a packed data set (.npz) with folds")
    parser.add_argument("recipes", nargs="+", help="names of bundled recipes or TOML files")
    arguments = parser.parse_args()
    data = packed.load(arguments.data)
    for name in arguments.recipes:
        found = summary(inner_errors(data, recipes.load(name)))
        print(json.dumps({"recipe": name, **{key: round(value, 3) for key, value in found.items()}}), flush=True)


if __name__ == "__main__":
    main()
