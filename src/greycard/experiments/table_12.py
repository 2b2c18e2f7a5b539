"""Table 12: time for one picture on a CPU: the literal network in torch, and greycard's evaluation of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from greycard import model_file
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table
from greycard.likelihood import log_likelihoods
from greycard.thumbnail import LogImage, log_image
from greycard.training.network import LikelihoodNetwork, literal_log_likelihoods

PICTURES = 9


def run(lab: Lab) -> Table:
    """The literal evaluation is what the paper's code does."""
    literal, ours = milliseconds(lab)
    return Table(
        "table-12",
        f"One 64x64 thumbnail of Gehler-Shi, 120 candidates, one CPU thread; median of {PICTURES} pictures, both "
        "methods on each in turn. The published figures were measured on an Intel i9-9900X.",
        [
            Row("FFCC model Q, quoted", "", {"milliseconds": 1.2}, {}),
            Row("every layer for every candidate, in torch", "", {"milliseconds": 128.0}, {"milliseconds": literal}),
            Row("greycard, all cells and candidates", "", {}, {"milliseconds": ours}),
        ],
        ("milliseconds",),
        unit="method",
    )


def milliseconds(lab: Lab) -> tuple[float, float]:
    """Of the literal evaluation and of greycard's: the same pictures in turn, so that both are slowed alike."""
    model, data = model_file.load(), lab.gehler_shi
    network = LikelihoodNetwork(0.0).eval()
    network.start_from(model.network, last_layer=True)
    candidates = model.cameras["Canon EOS 5D"].illuminants
    tensors = torch.from_numpy(candidates.astype(np.float32))

    def literal(image: LogImage) -> object:
        return literal_log_likelihoods(
            network, torch.from_numpy(image.values), torch.from_numpy(image.counted), tensors
        )

    def ours(image: LogImage) -> object:
        return log_likelihoods(model.network, image, candidates)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), torch.no_grad():
            images = [log_image(image) for image in data.images[-PICTURES:]]
            times = [(_seconds(literal, image), _seconds(ours, image)) for image in images]
    finally:
        torch.set_num_threads(threads)
    of_literal, of_ours = (1000 * statistics.median(column) for column in zip(*times, strict=True))
    return of_literal, of_ours


def _seconds(work: Callable[[LogImage], object], image: LogImage) -> float:
    start = time.perf_counter()
    work(image)
    return time.perf_counter() - start
