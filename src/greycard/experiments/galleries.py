"""The paper's figures: test pictures sorted by error, as photographed, as corrected, and as they should be.

Rendered with the camera's colour matrix and the sRGB curve. The last gallery shows the failures: the largest errors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from greycard import camera as cameras
from greycard import model_file, plot, render
from greycard.estimator import Estimator
from greycard.experiments.lab import Lab
from greycard.illuminant import angular_error
from greycard.training import recipe as recipes

ROWS = 6


def run(lab: Lab) -> list[Path]:
    """Write the galleries of Gehler-Shi's test pictures, from the models of table 1; where they lie."""
    outcome = lab.cross_validated("gehler-shi/one-camera", lab.gehler_shi, recipes.load("one-camera"))
    scores = outcome.scores[0]
    order = np.argsort(scores.angular_errors)
    evenly = order[np.linspace(0, len(order) - 1, ROWS).astype(int)]
    written = []
    for name, chosen in (("sorted", evenly), ("failures", order[::-1][:ROWS])):
        path = lab.runs / "galleries" / f"gehler-shi-{name}.png"
        plot.save(plot.gallery([_example(lab, int(index)) for index in chosen]), path)
        written.append(path)
    return written


def _example(lab: Lab, index: int) -> plot.Example:
    """One test picture with the estimate of the model that has not seen it. index: in the order of pooled folds."""
    data = lab.gehler_shi
    row = int(np.concatenate([np.flatnonzero(data.folds == fold) for fold in np.unique(data.folds)])[index])
    model = model_file.load(lab.runs / "gehler-shi" / "one-camera" / f"fold-{data.folds[row]}-seed-0.safetensors")
    name, camera, truth = str(data.names[row]), str(data.cameras[row]), data.illuminants[row]
    estimate = Estimator(model).estimate_thumbnail(data.images[row], camera, name=name)

    def rendered(light: NDArray[np.floating]) -> NDArray[np.uint8]:
        matrices = cameras.colour_matrices(camera)
        to_srgb = render.camera_to_srgb(matrices.at(6504)) if matrices else None
        return render.srgb(data.images[row], light, to_srgb)

    error = float(angular_error(estimate.illuminant, truth))
    pictures = {"as photographed": np.ones(3), f"estimate, {error:.2f}°": estimate.illuminant, "truth": truth}
    return plot.Example(name, {title: rendered(light) for title, light in pictures.items()}, estimate, truth)
