"""The likelihood network as a torch module, its loss, and the literal evaluation that it is checked against."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx

from greycard.likelihood import Network


class LikelihoodNetwork(nn.Module):
    """The paper's CNN (supplement, table 6), on features of the frozen first layer.

    ReLU follows every layer but the last. The 1x1 convolutions are linear layers over the 64 features of a cell.
    """

    convolution_weight: Tensor  # (64, 3, 3, 3): feature, colour, row, column
    convolution_bias: Tensor  # (64,)

    def __init__(self, dropout: float = 0.5) -> None:
        """Random weights above the frozen VGG layer; `dropout` is the share of pooled features left out."""
        super().__init__()
        weight, bias = vgg_first_layer()
        self.register_buffer("convolution_weight", weight)
        self.register_buffer("convolution_bias", bias)
        self.cell1, self.cell2 = nn.Linear(64, 64), nn.Linear(64, 128)
        self.dense1, self.dense2, self.dense3 = nn.Linear(128, 64), nn.Linear(64, 32), nn.Linear(32, 1)
        self.drop = nn.Dropout(dropout)

    def first_layer(self, patches: Tensor) -> Tensor:
        """(..., 27) patches of the log image (row, column, colour) -> (..., 64) features before the ReLU."""
        kernel = self.convolution_weight.permute(2, 3, 1, 0).reshape(27, 64)
        return patches @ kernel + self.convolution_bias

    def shifts(self, log_illuminants: Tensor) -> Tensor:
        """(..., 3) log illuminants -> (..., 64) what dividing by them subtracts from the features."""
        return log_illuminants @ self.convolution_weight.sum(dim=(2, 3)).T

    def forward(self, features: Tensor, candidates: Tensor) -> Tensor:
        """Log-likelihood of each image under each candidate: (images, n).

        features: (images, cells, 64) of the first layer before the ReLU; candidates: (n, 3) unit illuminants.
        """
        layers = (self.cell1.weight, self.cell1.bias, self.cell2.weight, self.cell2.bias)
        pooled: Tensor = _CellLayers.apply(features, self.shifts(candidates.log()), *layers)  # type: ignore[no-untyped-call]
        return self.head(pooled)

    def head(self, pooled: Tensor) -> Tensor:
        """(..., 128) mean over the cells -> (...) log-likelihood."""
        hidden = F.relu(self.dense2(F.relu(self.dense1(self.drop(pooled)))))
        likelihood: Tensor = self.dense3(hidden).squeeze(-1)
        return likelihood

    def to_numpy(self) -> Network:
        """The weights in the form that inference uses."""

        def matrix(layer: nn.Linear) -> dict[str, np.ndarray]:
            return {"weight": layer.weight.detach().T.contiguous().numpy(), "bias": layer.bias.detach().clone().numpy()}

        arrays = {
            "convolution_weight": self.convolution_weight.permute(2, 3, 1, 0).contiguous().numpy(),
            "convolution_bias": self.convolution_bias.clone().numpy(),
        }
        for name in ("cell1", "cell2", "dense1", "dense2", "dense3"):
            arrays |= {f"{name}_{part}": array.copy() for part, array in matrix(getattr(self, name)).items()}
        return Network(**arrays)

    def start_from(self, network: Network, *, last_layer: bool) -> None:
        """Take over the weights of a network that was trained before, with or without those of its last layer."""
        with torch.no_grad():
            for name in ("cell1", "cell2", "dense1", "dense2", *(["dense3"] if last_layer else [])):
                layer = getattr(self, name)
                layer.weight.copy_(torch.from_numpy(getattr(network, f"{name}_weight").T))
                layer.bias.copy_(torch.from_numpy(getattr(network, f"{name}_bias")))


class _CellLayers(torch.autograd.Function):
    """The two 1x1 layers and the mean over the cells, for every candidate: nearly all the work of a training step.

    Autograd would get the same gradients, but spends a third of the time on copies; the features are not trained, so
    they need no gradient.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        features: Tensor,
        shifts: Tensor,
        weight1: Tensor,
        bias1: Tensor,
        weight2: Tensor,
        bias2: Tensor,
    ) -> Tensor:
        """(images, cells, 64) features, (n, 64) shifts -> (images, n, 128) means."""
        images, cells, width = features.shape
        layer0 = (features[:, None] - shifts[:, None]).relu_().view(-1, width)  # rows: images, n, cells
        layer1 = torch.mm(layer0, weight1.T).add_(bias1).relu_()
        layer2 = torch.mm(layer1, weight2.T).add_(bias2).relu_()
        ctx.save_for_backward(layer0, layer1, layer2, weight2)
        return layer2.view(images, len(shifts), cells, -1).mean(dim=2)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """(images, n, 128) gradient of the means -> those of the weights and biases."""
        layer0, layer1, layer2, weight2 = ctx.saved_tensors
        images, candidates, width = gradient.shape
        cells = len(layer2) // (images * candidates)
        # The sign of a ReLU's output is its derivative; it takes the place of the output, which nobody needs any more.
        gradient2 = layer2.sign_().view(images, candidates, cells, width).mul_(gradient[:, :, None] / cells)
        gradient2 = gradient2.view(-1, width)
        of_weight2, of_bias2 = gradient2.T @ layer1, gradient2.sum(dim=0)
        gradient1 = torch.mm(gradient2, weight2).mul_(layer1.sign_())
        return None, None, gradient1.T @ layer0, gradient1.sum(dim=0), of_weight2, of_bias2


def vgg_first_layer() -> tuple[Tensor, Tensor]:
    """Weight (64, 3, 3, 3) and bias (64,) of the first convolution of torchvision's ImageNet VGG-16."""
    import safetensors.torch

    data = resources.files("greycard").joinpath("models/vgg16_conv1.safetensors").read_bytes()
    tensors = safetensors.torch.load(data)
    return tensors["weight"], tensors["bias"]


def angular_loss(estimates: Tensor, truths: Tensor) -> Tensor:
    """Angle in degrees between vectors (..., 3): the paper's equation 10, with a finite gradient everywhere.

    The gradient of arccos is infinite where the estimate is exact; the half-angle form (Kahan 2006) with a small
    number under the root has none there, and agrees to 1e-5 degrees.
    """
    a, b = F.normalize(estimates, dim=-1), F.normalize(truths, dim=-1)
    apart = ((a - b).square().sum(-1) + 1e-14).sqrt()
    together = ((a + b).square().sum(-1) + 1e-14).sqrt()
    return torch.rad2deg(2 * torch.atan2(apart, together))


def literal_log_likelihoods(
    network: LikelihoodNetwork, log_image: Tensor, counted: Tensor, candidates: Tensor
) -> Tensor:
    """The reference: divide the image by each candidate, take the log, run every layer over all cells: (n,).

    log_image: (64, 64, 3), floored; counted: (64, 64) bool; candidates: (n, 3). Slow, and meant to be.
    """
    image = log_image.exp()
    results = []
    for candidate in candidates:
        corrected = (image / candidate).log().permute(2, 0, 1)[None]
        padded = F.pad(corrected, (1, 1, 1, 1), mode="replicate")
        cells = F.relu(F.conv2d(padded, network.convolution_weight, network.convolution_bias))
        cells = F.relu(F.conv2d(cells, network.cell1.weight[:, :, None, None], network.cell1.bias))
        cells = F.relu(F.conv2d(cells, network.cell2.weight[:, :, None, None], network.cell2.bias))
        weights = counted.to(cells.dtype)
        results.append(network.head((cells[0] * weights).sum(dim=(1, 2)) / weights.sum()))
    return torch.stack(results)
