"""Saving a training run after every epoch, and going on from there. Like a model, a checkpoint is never a pickle."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import nn

from greycard.datasets.packed import Packed
from greycard.errors import GreycardError
from greycard.model_file import Model
from greycard.output import write_whole
from greycard.training.recipe import Recipe

_ADAM = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class Done:
    """How far a run is: epochs, the seconds they took, and the mean training error (degrees) of the last one."""

    epochs: int = 0
    seconds: float = 0.0
    error: float = float("nan")


def run_identity(data: Packed, recipe: Recipe, start: Model | None = None) -> str:
    """A digest of all that decides how a run ends: recipe, images, labels, cameras, and the model it starts from."""
    # Only what differs from the defaults, which are the paper's and stay: a key that a later version adds does not make
    # old runs strangers.
    settings = {key: value for key, value in asdict(recipe).items() if value != getattr(Recipe(), key)}
    content = [settings, data.digests().tolist(), data.illuminants.round(6).tolist(), data.cameras.tolist()]
    if start is not None:
        weights = [getattr(start.network, field.name).tobytes() for field in fields(start.network)]
        content.append(hashlib.sha256(b"".join(weights)).hexdigest())
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def save(path: Path, run: str, done: Done, parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer) -> None:
    """Write parameters and Adam's moments; random numbers need none, they depend on the epoch alone."""
    tensors = {}
    for index, parameter in enumerate(parameters):
        tensors[f"value.{index}"] = parameter.detach().contiguous()
        for key in _ADAM:
            tensors[f"{key}.{index}"] = optimizer.state[parameter][key].contiguous()
    write_whole(path, safetensors.torch.save(tensors, {"run": run, "done": json.dumps(asdict(done))}))


def load(path: Path, run: str, parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer) -> Done:
    """Put parameters and optimizer into the state of a checkpoint; where there is none, nothing is done yet."""
    if not path.exists():
        return Done()
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            about = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        done = Done(**json.loads(about["done"]))
        if about["run"] == run:
            _restore(tensors, parameters, optimizer)
    except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise GreycardError(f"{path}: is not a checkpoint of greycard; remove it to start afresh") from error
    if about["run"] != run:
        raise GreycardError(f"{path}: belongs to a run with another recipe or other images; remove it to start afresh")
    return done


def _restore(
    tensors: dict[str, torch.Tensor], parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer
) -> None:
    with torch.no_grad():
        for index, parameter in enumerate(parameters):
            parameter.copy_(tensors[f"value.{index}"])
            optimizer.state[parameter] = {key: tensors[f"{key}.{index}"] for key in _ADAM}
