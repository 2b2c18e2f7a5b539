"""Training of the convolutional mean (Gong 2019) for `greycard.baselines.convolutional_mean`."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from greycard.baselines.convolutional_mean import SHAPES
from greycard.illuminant import Array

BATCH = 16
RATE = 5e-3

Weights = list[NDArray[np.float32]]


def learn(
    pictures: NDArray[np.float32], counted: NDArray[np.float32], lights: Array, epochs: int, seed: int = 0
) -> tuple[Weights, Weights]:
    """Weights and offsets of the three convolutions, from pictures (N, 3, H, W) with lights (N, 3).

    counted: (N, H, W) how much each cell has a say. The loss is the angle; pictures are mirrored at random.
    """
    generator = torch.Generator().manual_seed(seed)
    layers = nn.ModuleList(nn.Conv2d(n_in, n_out, size, padding=size // 2) for n_out, n_in, size, _ in SHAPES)
    for parameter in layers.parameters():
        if parameter.ndim > 1:
            nn.init.kaiming_normal_(parameter, generator=generator)
        else:
            nn.init.constant_(parameter, 0.1)
    inputs, shares = torch.from_numpy(pictures), torch.from_numpy(counted)
    truths = torch.from_numpy(lights.astype(np.float32))
    optimiser = torch.optim.Adam(layers.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    for _ in range(epochs):
        for chosen in torch.split(torch.randperm(len(inputs), generator=generator), BATCH):
            values, weights = inputs[chosen], shares[chosen]
            if torch.rand((), generator=generator) < 0.5:
                values, weights = values.flip(-1), weights.flip(-1)
            first, second, last = layers
            values = nn.functional.softplus(last(second(first(values).relu()).relu()))
            sums = (values * weights[:, None]).sum(dim=(2, 3))
            cosines = nn.functional.cosine_similarity(sums, truths[chosen])
            loss = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6)).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        schedule.step()
    arrays = [parameter.detach().numpy().copy() for parameter in layers.parameters()]
    return arrays[::2], arrays[1::2]
