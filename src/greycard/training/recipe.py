"""How a model is trained: a TOML file of which every key is checked."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from greycard.candidates import Space, Strategy
from greycard.errors import GreycardError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Schedule = Literal["halving", "cosine"]


@dataclass(frozen=True)
class Recipe:
    """Every setting of a training run. The defaults are the paper's, with 128 random cells an image and step."""

    epochs: int = 120
    batch: int = 32  # images of one camera in a step
    cells: int = 128  # cells of an image drawn anew in each step
    learning_rate: float = 5e-3
    schedule: Schedule = "halving"  # halved after 10, 50 and 80 of 120 epochs; or half a cosine down to 0
    dropout: float = 0.5  # after the pool
    relight: float = 0.0  # share of images that a step shows under the light of another with the same candidates
    candidates: int = 120
    step_candidates: int = 0  # how many of them, drawn anew, a step looks at; 0: all
    sharpen: bool = False  # at the end, choose one factor on all log-likelihoods (see `sharpness`)
    strategy: Strategy = "kmeans"
    space: Space = "rgb"
    gain_bias: Literal["learned", "fixed"] = "learned"  # learned needs a single set of candidates
    cameras: Literal["one", "each"] = "one"  # one set of candidates for all images, or one for each camera
    fresh_last_layer: bool = False  # where a trained network goes on: its last layer starts afresh
    seed: int = 0

    def with_seed(self, seed: int) -> Recipe:
        """The same recipe with another seed."""
        return _checked(asdict(replace(self, seed=seed)), "seed")


_POSITIVE = ("epochs", "batch", "cells", "learning_rate", "candidates")


def load(name_or_path: str | Path) -> Recipe:
    """A recipe that comes with greycard, by its name, or a TOML file by its path."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        source = str(path)
        if not path.is_file():
            raise GreycardError(f"{path}: there is no such recipe file")
        data = path.read_bytes()
    else:
        source = f"recipe {str(name_or_path)!r}"
        if str(name_or_path) not in names():
            raise GreycardError(
                f"{source}: is not known; bundled: {', '.join(names())}; or give a file that ends in .toml"
            )
        data = resources.files("greycard").joinpath(f"recipes/{name_or_path}.toml").read_bytes()
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise GreycardError(f"{source}: is not valid TOML ({error})") from error
    return _checked(content, source)


def names() -> list[str]:
    """The recipes that come with greycard."""
    files = resources.files("greycard").joinpath("recipes").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def _checked(content: Mapping[str, Any], source: str) -> Recipe:
    """A recipe from its keys; an unknown key, a wrong type or a value out of range is named."""
    types = get_type_hints(Recipe)
    for key, value in content.items():
        if key not in types:
            close = difflib.get_close_matches(key, types, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(types)}"
            raise GreycardError(f"{source}: unknown key {key!r}; {hint}")
        _check_value(key, value, types[key], source)
    values: dict[str, Any] = {key: float(value) if types[key] is float else value for key, value in content.items()}
    recipe = Recipe(**values)
    if recipe.gain_bias == "learned" and recipe.cameras == "each":
        raise GreycardError(f'{source}: gain_bias = "learned" belongs to one set of candidates: cameras = "one"')
    return recipe


def _check_value(key: str, value: object, expected: Any, source: str) -> None:
    choices = get_args(expected)
    if choices:
        if value not in choices:
            raise GreycardError(f"{source}: {key} must be one of {', '.join(map(repr, choices))}, not {value!r}")
        return
    allowed = (int, float) if expected is float else (expected,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and expected is not bool):
        raise GreycardError(f"{source}: {key} must be of type {expected.__name__}, not {value!r}")
    if isinstance(value, int | float) and key in _POSITIVE and not 0 < value < math.inf:
        raise GreycardError(f"{source}: {key} must be a number above 0, not {value!r}")
    if key == "dropout" and not 0 <= float(str(value)) < 1:
        raise GreycardError(f"{source}: dropout must be from 0 to below 1, not {value!r}")
    if key == "relight" and not 0 <= float(str(value)) <= 1:
        raise GreycardError(f"{source}: relight must be from 0 to 1, not {value!r}")
    if key == "step_candidates" and isinstance(value, int) and value < 0:
        raise GreycardError(f"{source}: step_candidates must not be negative, got {value!r}")
    if key == "seed" and isinstance(value, int) and not 0 <= value < 2**32:
        raise GreycardError(f"{source}: seed must be from 0 to 2^32 - 1, not {value!r}")
