"""Figures that others have published: quoted beside the measured ones, never mixed with them.

Gehler-Shi, NUS-8: tables 1, 2 and 3 of the paper (Hernandez-Juarez et al. 2020), which collects them; FFCC model Q on
Gehler-Shi is its authors' own re-run on smaller thumbnails, and so is a second row for NUS-8. Cameras never seen, no
labels of them: Kim et al. 2025 (CCMNet), which knows their colour matrices, and Afifi et al. 2021 (C5), which sees
seven unlabelled pictures of them with every estimate; both train on further data sets, INTEL-TAU among them.
"""

from __future__ import annotations

from greycard.experiments.table import PUBLISHED


def _row(*figures: float | None) -> dict[str, float]:
    """Mean, median, trimean, best and worst 25 %; None where it was not published."""
    return {key: figure for key, figure in zip(PUBLISHED, figures, strict=True) if figure is not None}


QUOTED: dict[str, dict[str, dict[str, float]]] = {
    "gehler-shi": {
        "gray-world": _row(6.36, 6.28, 6.28, 2.33, 10.58),
        "white-patch": _row(7.55, 5.86, 6.35, 1.45, 16.12),
        "bayesian": _row(4.82, 3.46, 3.88, 1.26, 10.49),
        "regression-trees": _row(2.42, 1.65, 1.75, 0.38, 5.87),
        "oh-kim": _row(2.16, 1.47, 1.61, 0.37, 5.12),
        "ccc": _row(1.95, 1.22, 1.38, 0.35, 4.76),
        "ffcc": _row(1.98, 1.05, 1.31, 0.30, 5.11),
        "convolutional-mean": _row(2.48, 1.61, 1.80, 0.47, 5.97),
        "quasi-unsupervised (Bianco 2019)": _row(2.91, 1.98, None, None, None),
        "Afifi 2019": _row(2.77, 1.93, None, 0.55, 6.53),
        "Meta-AWB (McDonagh 2018)": _row(2.57, 1.84, 1.94, 0.47, 6.11),
        "DS-Net (Shi 2016)": _row(1.90, 1.12, 1.33, 0.31, 4.84),
        "FC4, SqueezeNet (Hu 2017)": _row(1.65, 1.18, 1.27, 0.38, 3.78),
        "FC4, AlexNet (Hu 2017)": _row(1.77, 1.11, 1.29, 0.34, 4.29),
        "FFCC, model P (Barron & Tsai 2017)": _row(1.61, 0.86, 1.02, 0.23, 4.27),
        "the paper": _row(2.35, 1.43, 1.63, 0.40, 5.80),
        "the paper, pre-trained": _row(2.10, 1.32, 1.53, 0.36, 5.10),
    },
    "nus-8": {
        "white-patch": _row(9.91, 7.44, 8.78, 1.44, 21.27),
        "gray-world": _row(4.59, 3.46, 3.81, 1.16, 9.85),
        "bayesian": _row(3.50, 2.36, 2.57, 0.78, 8.02),
        "oh-kim": _row(2.36, 2.09, None, None, 4.16),
        "ccc": _row(2.38, 1.48, 1.69, 0.45, 5.85),
        "regression-trees": _row(2.18, 1.48, 1.64, 0.46, 5.03),
        "ffcc": _row(2.06, 1.39, 1.53, 0.39, 4.80),
        "convolutional-mean": _row(2.25, 1.59, 1.74, 0.50, 5.13),
        "quasi-unsupervised (Bianco 2019)": _row(1.97, 1.91, None, None, None),
        "FC4, SqueezeNet (Hu 2017)": _row(2.23, 1.57, 1.72, 0.47, 5.15),
        "FC4, AlexNet (Hu 2017)": _row(2.12, 1.53, 1.67, 0.48, 4.78),
        "Afifi 2019": _row(2.05, 1.50, None, 0.52, 4.48),
        "DS-Net (Shi 2016)": _row(2.21, 1.46, 1.68, 0.48, 6.08),
        "Meta-AWB (McDonagh 2018)": _row(1.89, 1.34, 1.44, 0.45, 4.28),
        "FFCC, model Q, its authors' re-run": _row(2.11, 1.35, 1.53, 0.41, 4.94),
        "FFCC, model M (Barron & Tsai 2017)": _row(1.99, 1.31, 1.43, 0.35, 4.75),
        "the paper": _row(2.39, 1.61, 1.74, 0.50, 5.67),
        "the paper, pre-trained": _row(2.35, 1.55, 1.73, 0.46, 5.62),
    },
    "nus-8-multi-device": {
        "ffcc": _row(2.59, 1.77, 1.94, 0.52, 6.14),
        "the paper, pre-trained": _row(2.22, 1.33, 1.53, 0.44, 5.49),
    },
    "nus-8-per-device": {
        "ffcc": _row(2.37, 1.50, 1.69, 0.46, 5.76),
        "the paper, pre-trained": _row(2.35, 1.48, 1.67, 0.47, 5.71),
    },
    "gehler-shi-unseen": {
        "CCMNet (colour matrix of the camera)": _row(2.23, 1.53, 1.62, 0.36, 5.46),
        "C5 (seven unlabelled pictures of the camera)": _row(2.36, 1.61, 1.74, 0.44, 5.60),
    },
    "nus-8-unseen": {
        "CCMNet (colour matrix of the camera)": _row(2.32, 1.71, 1.83, 0.53, 5.18),
        "C5 (seven unlabelled pictures of the camera)": _row(2.54, 1.90, 2.02, 0.61, 5.61),
    },
    "cube-plus-unseen": {
        "CCMNet (colour matrix of the camera)": _row(1.68, 1.16, 1.26, 0.38, 3.89),
        "C5 (seven unlabelled pictures of the camera)": _row(1.87, 1.27, 1.40, 0.41, 4.36),
    },
}
"""By protocol and method; a name that is no method here is a system that is not built here."""
