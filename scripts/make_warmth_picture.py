"""Makes docs/images/warmth.png: a lamp-lit synthetic scene with all of the lamp's colour left, half, a quarter, none.

python scripts/make_warmth_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from greycard import render, synthetic

TARGET = Path(__file__).parents[1] / "docs" / "images" / "warmth.png"
WARMTHS = (1.0, 0.5, 0.25, 0.0)


def main() -> None:
    lamp, daylight = synthetic.scene("A"), synthetic.scene("D65").illuminant
    scene = render.Scene(lamp.illuminant, daylight, synthetic.camera_to_srgb(), daylight)
    pictures = [render.srgb(lamp.pixels, scene.kept_warm(warmth), scene.to_srgb) for warmth in WARMTHS]
    smaller = [picture[::2, ::2] for picture in pictures]
    between = np.full((smaller[0].shape[0], 6, 3), 255, np.uint8)
    strip = [part for picture in smaller for part in (between, picture)][1:]
    render.write_png(TARGET, np.concatenate(strip, axis=1))
    print(TARGET)


if __name__ == "__main__":
    main()
