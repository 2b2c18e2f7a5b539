"""Write down the band of lights that a colour matrix turns into candidates, so that nobody has to compute it again.

python scripts/make_light_band.py

30 temperatures from 2,000 to 12,000 K, evenly spaced in mired, each at eight distances from the Planckian locus (Duv
from -0.014 to 0.014; Ohno 2014), in CIE 1960 uv.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from greycard.illuminant import colour_science
from greycard.output import write_whole

TARGET = Path(__file__).parent.parent / "src" / "greycard" / "models" / "light_band.json"


def main() -> None:
    """Compute and write."""
    colour = colour_science()
    temperatures = 1e6 / np.linspace(1e6 / 12_000, 1e6 / 2_000, 30)
    band = [(cct, duv) for cct in temperatures for duv in np.linspace(-0.014, 0.014, 8)]
    uv = [colour.temperature.CCT_to_uv_Ohno2013(np.array(light)) for light in band]
    content = {
        "origin": "30 temperatures x 8 distances from the Planckian locus (Ohno 2014), CIE 1960 uv; made by "
        "scripts/make_light_band.py",
        "kelvin": [round(cct, 3) for cct, _ in band],
        "uv": [[round(float(value), 7) for value in light] for light in uv],
    }
    write_whole(TARGET, json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
