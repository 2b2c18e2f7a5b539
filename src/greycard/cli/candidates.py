"""`greycard candidates`: make the candidates of a camera, and look at them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from greycard.camera import ColourMatrices
    from greycard.camera_file import CameraFile
    from greycard.illuminant import Array
    from greycard.thumbnail import Thumbnail

commands = typer.Typer(help="Make the candidates of a camera, and look at them.", no_args_is_help=True)


@commands.command()
def build(
    photos: Annotated[
        list[Path] | None, typer.Argument(help="RAW files of the camera, for --from-raw and --from-sidecars.")
    ] = None,
    from_labels: Annotated[
        Path | None, typer.Option(help="CSV of lights measured with the camera: columns r, g, b and maybe camera.")
    ] = None,
    from_raw: Annotated[
        bool, typer.Option("--from-raw", help="Use the colour matrix in RAW files, and the pictures if they are many.")
    ] = False,
    from_sidecars: Annotated[
        bool, typer.Option("--from-sidecars", help="Use the white balances that you chose in a raw converter.")
    ] = False,
    camera: Annotated[str | None, typer.Option(help="The camera, where the labels do not name it.")] = None,
    alias: Annotated[list[str] | None, typer.Option(help="Another name of the camera; may be repeated.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many candidates, from labels.")] = 120,
    out: Annotated[Path, typer.Option(help="Folder for the camera files, one for each camera.")] = Path(),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace camera files that are there.")] = False,
) -> None:
    """Write a camera file, which `greycard estimate --cameras` uses.

    Exits with 1 if any file failed; the others are used all the same.
    """
    from greycard import camera_file
    from greycard.errors import GreycardError

    if [from_labels is not None, from_raw, from_sidecars].count(True) != 1:
        raise GreycardError(
            "candidates build: give one of --from-labels FILE, --from-raw PHOTOS and --from-sidecars PHOTOS"
        )
    failed = 0
    if from_labels is not None:
        made = _from_labels(from_labels, camera, count)
    elif from_raw:
        made, failed = _from_raw(photos or [], camera)
    else:
        made, failed = _from_sidecars(photos or [], camera, count)
    if alias and len(made) > 1:
        names = ", ".join(content.camera for content in made)
        raise GreycardError(f"--alias: these are {len(made)} cameras ({names}); give one at a time")
    for content in made:
        path = out / content.file_name
        if path.exists() and not overwrite:
            raise GreycardError(f"{path}: is there already; use --overwrite to replace it, or another --out")
        camera_file.write(path, replace(content, aliases=tuple(alias or ())))
        print(f"{path}: {content.camera}, {len(content.candidates.illuminants)} candidates from {content.origin}")
    if failed:
        raise typer.Exit(1)


@commands.command()
def show(
    camera: Annotated[str | None, typer.Argument(help="A camera's name or a camera file; by default a list.")] = None,
    model: Annotated[str | None, typer.Option(help="A model's name or file; by default the bundled one.")] = None,
    out: Annotated[Path | None, typer.Option(help="Plot them into this PNG file.")] = None,
) -> None:
    """List the cameras that are known, or show the candidates of one."""
    if camera is None:
        _list(model)
        return
    content = _known(camera, model)
    _print(content)
    if out is not None:
        from greycard import plot

        plot.save(plot.candidates(content.candidates, f"{content.camera}: {content.origin}"), out)
        print(out)


def _from_labels(path: Path, camera: str | None, count: int) -> list[CameraFile]:
    """One camera file for each camera of a table of lights."""
    from greycard import camera_file
    from greycard.errors import GreycardError

    lights = camera_file.read_lights(path)
    if camera is not None and len(lights) > 1:
        raise GreycardError(f"--camera: {path} has lights of {len(lights)} cameras; leave it out to use their names")
    unnamed = camera is None and None in lights
    if unnamed:
        raise GreycardError(f"{path}: does not name the camera; give it with --camera")
    return [camera_file.from_lights(camera or str(name), measured, count) for name, measured in lights.items()]


def _from_sidecars(photos: list[Path], camera: str | None, count: int) -> tuple[list[CameraFile], int]:
    """One camera file for each camera whose pictures have sidecars with a white balance that somebody chose.

    Also how many files could not be used; those are told and left out.
    """
    import numpy as np

    from greycard import camera_file
    from greycard.cli.pictures import labels
    from greycard.errors import GreycardError
    from greycard.sidecars import UNNAMED

    found, failed = labels(photos, None, None)
    lights: dict[str, list[Array]] = {}
    for path, one in found.items():
        if camera is None and one.camera == UNNAMED:
            failed += 1
            print(f"greycard: {path}: does not name its camera; give it with --camera", file=sys.stderr)
        else:
            lights.setdefault(camera or one.camera, []).append(one.light)
    if not lights:
        raise GreycardError(
            "--from-sidecars: none of the files can be used and has a white balance of your own beside it"
        )
    return [camera_file.from_lights(name, np.array(of_camera), count) for name, of_camera in lights.items()], failed


def _from_raw(photos: list[Path], camera: str | None) -> tuple[list[CameraFile], int]:
    """One camera file for each camera that took the photos: from a colour matrix, and from the photos if they suffice.

    Also how many files could not be used; those are told and left out.
    """
    from greycard.cli.terminal import bar
    from greycard.errors import GreycardError
    from greycard.workers import Failure, each

    found: dict[str, list[tuple[ColourMatrices, Thumbnail]]] = {}
    failed = 0
    with bar() as progress:
        task = progress.add_task("reading", total=len(photos))
        for index, answer in each(_examined, photos):
            progress.advance(task)
            if isinstance(answer, Failure):
                failed += 1
                print(f"greycard: {answer.about(photos[index])}", file=sys.stderr)
            elif camera is None and answer[0] is None:
                failed += 1
                print(f"greycard: {photos[index]}: does not name its camera; give it with --camera", file=sys.stderr)
            else:
                found.setdefault(str(camera or answer[0]), []).append(answer[1:])
    if not found:
        raise GreycardError("--from-raw: name at least one RAW file that has a colour matrix")
    return [_by_matrix(name, pictures) for name, pictures in found.items()], failed


def _by_matrix(camera: str, pictures: list[tuple[ColourMatrices, Thumbnail]]) -> CameraFile:
    """A camera file from the matrices of the first picture, with a prior from all of them where they suffice."""
    from greycard.adaptation import FEWEST, adapted
    from greycard.camera_file import CameraFile
    from greycard.estimator import load

    estimator = load()
    chosen = estimator.from_colour_matrix(pictures[0][0])
    if len(pictures) < FEWEST:
        return CameraFile(camera, chosen, f"its colour matrix ({FEWEST} pictures or more would tell its usual lights)")
    scores = estimator.scores((cells for _, cells in pictures), chosen)
    return CameraFile(camera, adapted(chosen, scores), f"its colour matrix and {len(pictures)} pictures")


def _examined(path: Path) -> tuple[str | None, ColourMatrices, Thumbnail]:
    """Camera, colour matrices and thumbnail of a RAW file; read in a process of its own."""
    from greycard.errors import GreycardError
    from greycard.photo import read
    from greycard.thumbnail import from_photo, log_image

    picture = read(path)
    if picture.matrices is None:
        raise GreycardError(f"{path}: has no colour matrix, and LibRaw knows none of this camera")
    if picture.balanced:
        raise GreycardError(f"{path}: its values were balanced before they were stored; its matrix serves only itself")
    cells = from_photo(picture)
    log_image(cells, str(path))  # refuses one with too little to see
    return picture.camera, picture.matrices, cells


def _known(camera: str, model: str | None) -> CameraFile:
    """A camera file, or a camera of a model as one."""
    from greycard import camera_file, model_file
    from greycard.camera import SOLD_AS, find

    if Path(camera).suffix.lower() == ".json":
        return camera_file.read(camera)
    known = model_file.load(model).cameras
    name = find(camera, known)
    return camera_file.CameraFile(name, known[name], "labels, in the model", SOLD_AS.get(name, ()))


def _print(content: CameraFile) -> None:
    """What a camera's candidates are, in a few lines; the temperatures where its colour matrix is known."""
    from greycard.camera import colour_matrices

    chosen = content.candidates
    print(f"{content.camera}: {len(chosen.illuminants)} candidates from {content.origin}")
    if content.aliases:
        print(f"also known as {', '.join(content.aliases)}")
    matrices = colour_matrices(content.camera)
    if matrices is not None:
        kelvins = sorted(light.cct for light in matrices.temperatures(list(chosen.illuminants)) if light)
        if kelvins:
            middle = kelvins[len(kelvins) // 2]
            print(f"from {kelvins[0]:.0f} K to {kelvins[-1]:.0f} K, half of them above {middle:.0f} K")
    print("prior: " + ("flat" if chosen.bias is None else "as often as such lights were seen"))


def _list(model: str | None) -> None:
    """The cameras of a model with their other names."""
    from greycard import model_file
    from greycard.camera import SOLD_AS

    for name, chosen in sorted(model_file.load(model).cameras.items()):
        others = f" (also {', '.join(SOLD_AS[name])})" if name in SOLD_AS else ""
        print(f"{name}{others}: {len(chosen.illuminants)} candidates")
