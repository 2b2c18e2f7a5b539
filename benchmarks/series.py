"""What one balance for pictures of one light is worth, and how a light is followed.

    python benchmarks/series.py groups SET.npz --model MODEL [--size 4] [--groups 60]
    python benchmarks/series.py tracker [--first-seed 100]

groups: pictures of one camera from one fold are relit to the same light, taken from the labels of that fold; candidates
come from the camera's other folds. Mean errors of single estimates and of one balance, in degrees; how many groups of
one light are split; and in how many of two lights at least 5 degrees apart the change is found, within a picture. Says
how many of the pictures the model was trained on.
tracker: synthetic sequences that pan over a scene: a step of the light, a drift, and a light that stays.
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


def groups(path: str, model: str | None, size: int, count: int) -> dict[str, object]:
    data, estimator, generator = packed.load(path), greycard.load(model), np.random.default_rng(0)
    known = int(seen(data, estimator.model.trained_on).sum())
    single, together, splits, found, changes = [], [], 0, 0, 0
    names = np.unique(data.cameras)
    for number in range(count):
        camera = names[number % len(names)]
        own, fold = data.cameras == camera, number // len(names) % 3
        labels = data.illuminants[own & (data.folds != fold)]
        chosen = select(labels, 120)
        candidates = CandidateSet(chosen, bias=log_prior(labels, chosen))
        here = np.flatnonzero(own & (data.folds == fold))
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
        "pictures_seen_by_the_model": f"{known} of {len(data)}",
        "groups": count,
        "size": size,
        "single_mean": round(float(np.mean(single)), 3),
        "together_mean": round(float(np.mean(together)), 3),
        "less": f"{1 - np.mean(together) / np.mean(single):.0%}",
        "groups_of_one_light_split": f"{splits} of {count}",
        "changes_found": f"{found} of {changes}",
    }


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


def tracker(first_seed: int, sequences: int, frames: int = 40) -> dict[str, float]:
    candidates = synthetic.camera_candidates()
    warm, cold = (synthetic.scene(light, 0, 64, 64).illuminant for light in ("3200K", "6500K"))
    ways = {
        "step": lambda t: warm if t < frames // 2 else cold,
        "drift": lambda t: unit(warm ** (1 - t / frames) * cold ** (t / frames)),
        "still": lambda t: warm,
    }
    single: dict[str, list[float]] = {"jitter": [], "step": [], "drift": [], "still": []}
    followed: dict[str, list[float]] = {"jitter": [], "step": [], "drift": [], "still": []}
    lags = []
    for seed in range(first_seed, first_seed + sequences):
        scene = synthetic.scene("D65", seed, 256, 256 + 8 * frames)
        reflectance = scene.pixels / scene.illuminant
        for name, way in ways.items():
            recorder = Recorder(greycard.load())
            tracked = greycard.Tracker(recorder, candidates=candidates)
            alone, after, truth = [], [], []
            for t in range(frames):
                light = way(t)
                pixels = reflectance[:, 8 * t : 8 * t + 256] * light
                pixels = pixels * 0.9 / np.percentile(pixels, 99.5)
                frame = np.clip(pixels, 0, 1)
                after.append(tracked.update(frame).illuminant)
                alone.append(recorder.last.illuminant)
                truth.append(light)
            for into, estimates in ((single, alone), (followed, after)):
                into[name] += angular_error(np.array(estimates), np.array(truth)).tolist()
                if name == "still":
                    into["jitter"] += angular_error(np.array(estimates[1:]), np.array(estimates[:-1])).tolist()
            if name == "step":
                half = frames // 2
                way_left = angular_error(np.array(after[half:]), cold) / float(angular_error(warm, cold))
                lags.append(int(np.argmax(way_left < 0.25)) + 1 if np.any(way_left < 0.25) else frames)
    answer = {f"single_{name}": round(float(np.mean(values)), 3) for name, values in single.items()}
    answer |= {f"tracked_{name}": round(float(np.mean(values)), 3) for name, values in followed.items()}
    return answer | {
        "jitter_ratio": round(answer["tracked_jitter"] / answer["single_jitter"], 3),
        "most_frames": max(lags),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["groups", "tracker"])
    parser.add_argument("set", nargs="?")
    parser.add_argument("--model")
    parser.add_argument("--size", type=int, default=4)
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--sequences", type=int, default=3)
    options = parser.parse_args()
    if options.what == "tracker":
        print(json.dumps(tracker(options.first_seed, options.sequences)))
    else:
        print(json.dumps(groups(options.set, options.model, options.size, options.groups)))


if __name__ == "__main__":
    main()
