"""`greycard export`: a model for other languages and machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Argument(help="File to write: NAME.onnx, or NAME.c with NAME_test.c beside it.")],
    model: Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")] = None,
    camera: Annotated[
        str | None, typer.Option(help="Whose candidates the C file carries; by default those of all cameras.")
    ] = None,
) -> None:
    """Write a model as an ONNX file, or as one C99 file without dependencies."""
    from greycard.errors import GreycardError
    from greycard.model_file import load

    loaded = load(model)
    if out.suffix == ".onnx":
        from greycard import export_onnx

        if camera:
            raise GreycardError("--camera belongs to a C file: an ONNX file takes candidates as an input")
        difference = export_onnx.write(loaded, out)
        print(f"{out}: log-likelihoods in onnxruntime are within {difference:.1g} of greycard's")
    elif out.suffix == ".c":
        from greycard import camera as cameras
        from greycard import export_c

        chosen = loaded.cameras[cameras.find(camera, loaded.cameras)] if camera else loaded.any_camera
        beside = export_c.write(loaded, chosen, out)
        print(f"{out}, and {beside}, which includes it: compiled and run, it compares the numbers with greycard's")
    else:
        raise GreycardError(f"{out}: expected a name that ends in .onnx or .c")
