"""`greycard demo`: a scene whose light is known, estimated, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("greycard-demo"),
    light: Annotated[
        str, typer.Option(help='A CIE illuminant ("A", "FL2", "LED-B3") or a temperature ("3200K").')
    ] = "A",
    seed: Annotated[int, typer.Option(help="Another number, another scene.")] = 0,
) -> None:
    """Make a scene from spectra, estimate its light, and write pictures of what happened."""
    from greycard import plot, render, synthetic
    from greycard.estimator import load
    from greycard.illuminant import angular_error

    scene = synthetic.scene(light, seed)
    estimate = load().estimate(scene.pixels, candidates=synthetic.camera_candidates())
    error = float(angular_error(estimate.illuminant, scene.illuminant))

    print(f"a scene under {light}, seen by a camera that the model was never trained on ({synthetic.CAMERA})")
    print("true light     ({:.3f}, {:.3f}, {:.3f})".format(*scene.illuminant))
    print("estimate       ({:.3f}, {:.3f}, {:.3f})".format(*estimate.illuminant))
    print(f"error          {error:.2f} degrees")
    print("gains          r {:.3f}, g {:.3f}, b {:.3f}".format(*estimate.gains))
    to_srgb = synthetic.camera_to_srgb()
    daylight = synthetic.scene("D65", seed).illuminant
    render.write_png(out / "before.png", render.srgb(scene.pixels, daylight, to_srgb))
    render.write_png(out / "after.png", render.srgb(scene.pixels, estimate.illuminant, to_srgb))
    plot.save(plot.posterior(estimate, scene.illuminant), out / "posterior.png")
    print(f"pictures       {out / 'before.png'} (set to daylight), {out / 'after.png'}, {out / 'posterior.png'}")
