"""What the field reports of a list of errors, how sure that is, and whether one method is better than another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError
from greycard.illuminant import Array

STATISTICS = ("mean", "median", "trimean", "best25", "worst25", "worst5", "max")


def summary(errors: ArrayLike) -> dict[str, float]:
    """Mean, median, trimean, best and worst 25 %, worst 5 % and maximum of errors (n,), with their number `n`.

    Trimean: (Q1 + 2 Q2 + Q3) / 4 (Tukey 1977). Best/worst 25 %: the mean of the smallest/largest quarter.
    """
    ordered = np.sort(np.asarray(errors, dtype=np.float64))
    if ordered.ndim != 1 or ordered.size == 0 or not np.all(np.isfinite(ordered)):
        raise GreycardError("errors: expected a non-empty list of finite numbers")
    lower, median, upper = np.percentile(ordered, [25, 50, 75])
    quarter, twentieth = (max(1, round(len(ordered) * share)) for share in (0.25, 0.05))
    return {
        "n": len(ordered),
        "mean": float(ordered.mean()),
        "median": float(median),
        "trimean": float((lower + 2 * median + upper) / 4),
        "best25": float(ordered[:quarter].mean()),
        "worst25": float(ordered[-quarter:].mean()),
        "worst5": float(ordered[-twentieth:].mean()),
        "max": float(ordered[-1]),
    }


def geometric_mean(summaries: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Each statistic's geometric mean over cameras, as is the custom for NUS-8."""
    rows = list(summaries)
    return {key: float(np.exp(np.mean([np.log(max(row[key], 1e-12)) for row in rows]))) for key in STATISTICS}


def bootstrap_interval(
    errors: ArrayLike, statistic: Callable[..., NDArray[np.floating]] = np.mean, *, share: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Interval that holds the statistic in `share` of 2,000 resamplings of the images (Efron 1979).

    errors: (n,); statistic: a NumPy reduction such as np.mean or np.median.
    """
    values = np.asarray(errors, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(len(values), size=(2000, len(values)))
    low, high = np.percentile(statistic(values[drawn], axis=1), [50 * (1 - share), 50 * (1 + share)])
    return float(low), float(high)


def paired_comparison(errors: ArrayLike, others: ArrayLike, *, seed: int = 0) -> dict[str, float | list[float]]:
    """How one method compares with another on the same images.

    errors, others: (n,) in the same order. Differences are errors - others: negative means that the first is better.
    Intervals hold 95 % of 2,000 resamplings of the images, each image kept paired with itself.
    """
    first, second = np.asarray(errors, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or first.size == 0:
        raise GreycardError(
            f"errors: a paired comparison needs the same images twice, got {first.shape} and {second.shape}"
        )
    drawn = np.random.default_rng(seed).integers(len(first), size=(2000, len(first)))
    medians: Array = np.median(first[drawn], axis=1) - np.median(second[drawn], axis=1)
    return {
        "n": len(first),
        "mean_difference": float(np.mean(first - second)),
        "mean_interval": list(bootstrap_interval(first - second, seed=seed)),
        "median_difference": float(np.median(first) - np.median(second)),
        "median_interval": np.percentile(medians, [2.5, 97.5]).tolist(),
        "better_share": float(np.mean(first < second)),
    }
