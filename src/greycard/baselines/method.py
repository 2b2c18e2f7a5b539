"""The common interface of the baselines, and how one is found by its name.

>>> from greycard.baselines.method import find
>>> find("gray-world").learns
False
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError
from greycard.illuminant import Array

METHODS = {
    "gray-world": "greycard.baselines.gray_world:GrayWorld",
    "white-patch": "greycard.baselines.white_patch:WhitePatch",
    "shades-of-gray": "greycard.baselines.shades_of_gray:ShadesOfGray",
    "general-gray-world": "greycard.baselines.general_gray_world:GeneralGrayWorld",
    "gray-edge-1": "greycard.baselines.gray_edge:FirstOrderGrayEdge",
    "gray-edge-2": "greycard.baselines.gray_edge:SecondOrderGrayEdge",
    "pca": "greycard.baselines.bright_and_dark:BrightAndDark",
    "gray-index": "greycard.baselines.gray_index:GrayIndex",
    "bayesian": "greycard.baselines.bayesian:Bayesian",
    "corrected-moments": "greycard.baselines.corrected_moments:CorrectedMoments",
    "regression-trees": "greycard.baselines.regression_trees:RegressionTrees",
    "ccc": "greycard.baselines.ccc:CCC",
    "ffcc": "greycard.baselines.ffcc:FFCC",
    "oh-kim": "greycard.baselines.oh_kim:OhKim",
    "convolutional-mean": "greycard.baselines.convolutional_mean:ConvolutionalMean",
}
"""The methods by name, as module:Class."""


class Method(Protocol):
    """What estimates the light of thumbnails (N, 64, 64, 3): linear, black removed, masked cells 0 in all channels."""

    def fit(self, thumbnails: NDArray[Any], illuminants: ArrayLike) -> Any:
        """Learn from thumbnails whose illuminants (N, 3) are known."""

    def predict(self, thumbnails: NDArray[Any]) -> ArrayLike:
        """(N, 3) the illuminants, positive; of any length."""


class NotFittedError(GreycardError):
    """A method was asked for an estimate before it had learned anything."""


def find(name: str) -> Method:
    """A new method by its name, or anybody's own by module:Class; the current folder is searched for modules too."""
    if name not in METHODS and ":" not in name:
        raise GreycardError(
            f"method {name!r} is not known; expected one of {', '.join(METHODS)}, or module:Class for your own"
        )
    module, _, attribute = METHODS.get(name, name).partition(":")
    here = str(Path.cwd())
    if name not in METHODS and here not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise GreycardError(f"method {name!r}: cannot be made ({error}); expected module:Class") from error
    if not (callable(getattr(found, "fit", None)) and callable(getattr(found, "predict", None))):
        raise GreycardError(f"method {name!r}: needs fit(thumbnails, illuminants) and predict(thumbnails)")
    return cast(Method, found)


def learns(method: Method) -> bool:
    """Whether `fit` changes anything; taken for granted where the method does not say."""
    return bool(getattr(method, "learns", True))


def predicted(method: Method, thumbnails: NDArray[Any], name: str) -> Array:
    """(N, 3) what a method says of thumbnails, or why it cannot be used. name: of the method."""
    estimates = np.asarray(method.predict(thumbnails), dtype=np.float64)
    if estimates.shape != (len(thumbnails), 3) or not np.all(np.isfinite(estimates)) or np.any(estimates <= 0):
        raise GreycardError(
            f"method {name!r}: predict should give {len(thumbnails)} rows of positive r, g, b; "
            f"it gave {estimates.shape} with {int(np.sum(~(estimates > 0)))} that are not positive"
        )
    return estimates


def require_fitted(method: object, attribute: str) -> None:
    """Refuse to estimate where `attribute`, which `fit` sets, is missing."""
    if not hasattr(method, attribute):
        raise NotFittedError(f"{type(method).__name__} has to learn from labelled pictures first: call fit")
