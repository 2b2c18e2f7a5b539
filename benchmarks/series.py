"""What one balance for pictures of one light is worth, and how a light is followed.

    python benchmarks/series.py groups SET.npz --model MODEL [--size 4] [--groups 60]
    python benchmarks/series.py tracker [SET.npz --model MODEL] [--sequences 24]

groups: pictures of one camera from one fold are relit to the same light, taken from the labels of that fold; candidates
come from the camera's other folds. Mean errors of single estimates and of one balance, in degrees; how many groups of
one light are split; and in how many of two lights at least 5 degrees apart the change is found, within a picture. Says
how many of the pictures the model was trained on.
tracker: sequences of 40 frames whose light stays, makes a step or drifts from one light to another, at least 10 degrees
away. The frames are pictures as in groups, a new one each; without a set they pan over a synthetic scene. Mean errors
and changes from frame to frame (jitter) of single estimates and of the tracker, in degrees; and after how many frames
it has gone half of the way of a step, and three quarters.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

import greycard
from greycard import series, synthetic
from greycard.candidates import CandidateSet, log_prior, select
from greycard.datasets import packed
from greycard.evaluation import seen
from greycard.illuminant import angular_error, unit

FRAMES = 40


def groups(path: str, model: str | None, size: int, count: int) -> dict[str, object]:
    data, estimator, generator = packed.load(path), greycard.load(model), np.random.default_rng(0)
    single, together, splits, found, changes = [], [], 0, 0, 0
    for candidates, here in folds(data, count):
        picked = generator.choice(here, size, replace=False)
        first, second = data.illuminants[generator.choice(here, 2, replace=False)]
        estimates = relit(estimator, data, picked, [first] * size, candidates)
        single += [float(angular_error(one.illuminant, first)) for one in estimates]
        together += [float(angular_error(one.illuminant, first)) for one in series.balanced_together(estimates)]
        splits += len(series.parts([one.posterior for one in estimates])) > 1
        if float(angular_error(first, second)) >= 5:
            later = relit(estimator, data, picked, [second] * size, candidates)
            cut = [part.start for part in series.parts([one.posterior for one in [*estimates, *later]])][1:]
            changes += 1
            found += any(abs(start - size) <= 1 for start in cut)
    return {
        "pictures_seen_by_the_model": known_pictures(data, estimator),
        "groups": count,
        "size": size,
        "single_mean": round(float(np.mean(single)), 3),
        "together_mean": round(float(np.mean(together)), 3),
        "less": f"{1 - np.mean(together) / np.mean(single):.0%}",
        "groups_of_one_light_split": f"{splits} of {count}",
        "changes_found": f"{found} of {changes}",
    }


def folds(data, count):
    """Candidates from the other folds of a camera and the pictures of one fold, `count` times, in turns."""
    names = np.unique(data.cameras)
    for number in range(count):
        own, fold = data.cameras == names[number % len(names)], number // len(names) % 3
        labels = data.illuminants[own & (data.folds != fold)]
        chosen = select(labels, 120)
        yield CandidateSet(chosen, bias=log_prior(labels, chosen)), np.flatnonzero(own & (data.folds == fold))


def known_pictures(data, estimator: greycard.Estimator) -> str:
    return f"{int(seen(data, estimator.model.trained_on).sum())} of {len(data)}"


def relit(estimator, data, picked, lights, candidates):
    """Estimates of pictures whose own light is replaced by another."""
    return [
        estimator.estimate_thumbnail(data.images[i] / data.illuminants[i] * light, candidates=candidates)
        for i, light in zip(picked, lights, strict=True)
    ]


class Recorder:
    """An estimator that remembers its last answer."""

    def __init__(self, estimator: greycard.Estimator) -> None:
        self.estimator = estimator

    def estimate(self, *arguments, **options):
        self.last = self.estimator.estimate(*arguments, **options)
        return self.last


def pans(count: int):
    """Candidates, frames without their light, and two lights, of synthetic scenes."""
    candidates = synthetic.camera_candidates()
    warm, cold = (synthetic.scene(light, 0, 64, 64).illuminant for light in ("3200K", "6500K"))
    for seed in range(100, 100 + count):
        scene = synthetic.scene("D65", seed, 256, 256 + 8 * FRAMES)
        reflectance = scene.pixels / scene.illuminant
        yield candidates, [reflectance[:, 8 * t : 8 * t + 256] for t in range(FRAMES)], warm, cold


def cuts(data, count: int):
    """The same of a data set: every frame is another picture."""
    generator = np.random.default_rng(0)
    for candidates, here in folds(data, count):
        lights = data.illuminants[here]
        far = np.argwhere(angular_error(lights[:, None], lights[None]) >= 10)
        picked = generator.choice(here, FRAMES, replace=len(here) < FRAMES)
        if len(far):
            first, second = lights[generator.choice(far)]
            yield candidates, [data.images[i] / data.illuminants[i] for i in picked], first, second


def tracker(path: str | None, model: str | None, count: int) -> dict[str, object]:
    estimator = greycard.load(model)
    data = packed.load(path) if path else None
    ways = {
        "still": lambda share: 0.0,
        "step": lambda share: float(share >= 0.5),
        "drift": lambda share: share,
    }
    errors: dict[str, list[float]] = {}
    jitter: dict[str, list[float]] = {"single": [], "tracked": []}
    half, most = [], []
    for candidates, frames, first, second in pans(count) if data is None else cuts(data, count):
        for name, way in ways.items():
            shares = [way(t / FRAMES) for t in range(FRAMES)]
            lights = np.array([unit(first ** (1 - share) * second**share) for share in shares])
            found = follow(estimator, candidates, frames, lights)
            for who, answers in found.items():
                errors.setdefault(f"{who}_{name}", []).append(float(np.mean(angular_error(answers, lights))))
                if name == "still":
                    jitter[who].append(float(np.mean(angular_error(answers[1:], answers[:-1]))))
            if name == "step":
                gone = (found["tracked"][FRAMES // 2 :] - first) @ (second - first) / np.sum((second - first) ** 2)
                half.append(frames_until(gone >= 0.5))
                most.append(frames_until(gone >= 0.75))
    return {
        "pictures_seen_by_the_model": "synthetic" if data is None else known_pictures(data, estimator),
        "sequences": len(half),
        **{f"{name}_error": round(float(np.mean(values)), 2) for name, values in errors.items()},
        **{f"{who}_jitter": round(float(np.mean(values)), 3) for who, values in jitter.items()},
        "jitter_ratio": round(float(np.mean(jitter["tracked"]) / np.mean(jitter["single"])), 3),
        "frames_to_half_of_a_step": {"median": float(np.median(half)), "most": max(half)},
        "three_quarters_within_5": f"{sum(one <= 5 for one in most)} of {len(most)}",
    }


def follow(estimator, candidates, frames, lights) -> dict[str, np.ndarray]:
    """Lights (frames, 3) that single estimates and the tracker find in frames under given lights."""
    recorder = Recorder(estimator)
    tracked = greycard.Tracker(recorder, candidates=candidates)
    single, after = [], []
    for frame, light in zip(frames, lights, strict=True):
        lit = frame * light
        after.append(tracked.update(np.clip(lit * 0.9 / np.percentile(lit, 99.5), 0, 1)).illuminant)
        single.append(recorder.last.illuminant)
    return {"single": np.array(single), "tracked": np.array(after)}


def frames_until(there: np.ndarray) -> int:
    """The first frame that is there, counted from 1; one more than there are where none is."""
    return int(np.argmax(there)) + 1 if there.any() else len(there) + 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["groups", "tracker"])
    parser.add_argument("set", nargs="?")
    parser.add_argument("--model")
    parser.add_argument("--size", type=int, default=4)
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--sequences", type=int, default=24)
    options = parser.parse_args()
    if options.what == "tracker":
        print(json.dumps(tracker(options.set, options.model, options.sequences)))
    else:
        print(json.dumps(groups(options.set, options.model, options.size, options.groups)))


if __name__ == "__main__":
    main()
