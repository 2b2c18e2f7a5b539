"""`greycard info`: what is installed, and what the model knows."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    model: Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say which version and model this is, and which cameras it has candidates for."""
    import numpy as np

    from greycard import __version__
    from greycard.model_file import load

    loaded = load(model)
    datasets, counts = np.unique(loaded.trained_on.datasets, return_counts=True)
    about = {
        "version": __version__,
        "model": loaded.name,
        "trainable_weights": loaded.network.trainable_weights,
        "weights": loaded.network.weights,
        "cameras": sorted(loaded.cameras),
        "trained_on": dict(zip(datasets.tolist(), counts.tolist(), strict=True)),
        "recipe": dict(loaded.recipe),
        "results": dict(loaded.results),
    }
    if as_json:
        print(json.dumps(about))
        return
    print(f"greycard {about['version']}, model {about['model']}")
    print(f"{about['trainable_weights']:,} trainable weights, {about['weights']:,} in all")
    print("trained on " + ", ".join(f"{name} ({count} images)" for name, count in zip(datasets, counts, strict=True)))
    print("cameras: " + ", ".join(sorted(loaded.cameras)))
