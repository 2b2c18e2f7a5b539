"""`greycard train`: a model from packed data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    data: Annotated[list[Path], typer.Argument(help="Packed data sets (.npz); all their images are used.")],
    out: Annotated[Path, typer.Option(help="The model file to write (.safetensors).")],
    recipe: Annotated[str, typer.Option(help="A bundled recipe's name, or a TOML file.")] = "many-cameras",
    start: Annotated[
        str | None, typer.Option("--from", help="Train this model further (a bundled one's name, or a file).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the recipe's.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model file if it exists.")] = False,
) -> None:
    """Train a model. Interrupted, it goes on from its checkpoint when started again."""
    from greycard.errors import GreycardError
    from greycard.training import recipe as recipes

    if out.exists() and not overwrite:
        raise GreycardError(f"{out}: exists already; choose another name or --overwrite")
    chosen = recipes.load(recipe)
    if seed is not None:
        chosen = chosen.with_seed(seed)
    require_torch()

    from greycard import model_file
    from greycard.cli.terminal import bar
    from greycard.datasets import packed
    from greycard.training.checkpoint import Done
    from greycard.training.loop import train

    together = packed.concatenate([packed.load(path) for path in data])
    pretrained = model_file.load(start) if start else None
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    with bar() as progress:
        task = progress.add_task("training", total=chosen.epochs)

        def report(done: Done) -> None:
            progress.update(task, completed=done.epochs, description=f"training, error {done.error:.2f} degrees")

        model = train(together, chosen, start=pretrained, name=out.stem, checkpoint=checkpoint, report=report)
    model_file.save(model, out)
    checkpoint.unlink(missing_ok=True)
    print(f"{out}: trained on {len(together)} images of {len(model.cameras)} cameras")


def require_torch() -> None:
    """Say how to get torch where it is missing."""
    from importlib.util import find_spec

    from greycard.errors import GreycardError

    if find_spec("torch") is None:
        raise GreycardError("training needs torch: pip install 'greycard[train]'")
