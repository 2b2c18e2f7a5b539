"""A baseline on pictures: the same reading and the same answer as the estimator's, without what it cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import photo, thumbnail
from greycard.baselines.method import Method, NotFittedError, predicted
from greycard.errors import GreycardError
from greycard.estimator import Estimate
from greycard.illuminant import unit
from greycard.photo import Photo


@dataclass(frozen=True)
class BaselineEstimator:
    """A method, fitted where it needs that, and its name."""

    method: Method
    name: str

    def estimate(
        self,
        source: str | Path | ArrayLike,
        camera: str | None = None,
        *,
        region: tuple[float, float, float, float] | None = None,
        shading: ArrayLike | None = None,
        **levels: Any,
    ) -> Estimate:
        """Estimate the light of a file or of linear pixels (H, W, 3); the rest is as in `Estimator.estimate`."""
        picture = photo.read(source, **levels) if isinstance(source, str | Path) else photo.from_array(source, **levels)
        return self.estimate_photo(picture, camera, region=region, shading=shading)

    def estimate_photo(
        self,
        picture: Photo,
        camera: str | None = None,
        *,
        region: tuple[float, float, float, float] | None = None,
        shading: ArrayLike | None = None,
    ) -> Estimate:
        """Estimate the light of a photo that is read already."""
        cells = thumbnail.from_part(picture, region, shading)
        return self._estimate(cells, picture.name, camera or picture.camera, picture)

    def estimate_thumbnail(
        self,
        cells: NDArray[np.generic],
        camera: str | None = None,
        *,
        camera_of_file: str | None = None,
        name: str = "thumbnail",
    ) -> Estimate:
        """Estimate the light of a thumbnail (64, 64, 3): linear, black removed, masked cells 0 in all channels."""
        return self._estimate(cells, name, camera or camera_of_file)

    def _estimate(self, cells: NDArray[Any], name: str, camera: str | None, picture: Photo | None = None) -> Estimate:
        thumbnail.log_image(cells, name)  # refuses what the estimator refuses, by the name of the file
        try:
            illuminant = unit(predicted(self.method, np.asarray(cells)[None], self.name)[0])
        except NotFittedError as error:
            raise GreycardError(
                f"method {self.name!r} has to learn from labelled pictures first: name packed data sets of the same "
                "camera with --fit-on SET.npz"
            ) from error
        return Estimate(
            illuminant,
            None,
            camera,
            name,
            (*(picture.notes if picture else ()), f"{self.name} gives a single light: no alternatives, no confidence"),
            picture.matrices if picture else None,
            picture.as_shot if picture else None,
            "none",
        )
