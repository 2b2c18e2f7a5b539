"""Table 6: the network, layer by layer."""

from __future__ import annotations

from dataclasses import fields

from greycard import model_file
from greycard.experiments.lab import Lab
from greycard.experiments.table import Row, Table


def run(lab: Lab) -> Table:
    """Counted in the bundled model; nothing is trained."""
    network = model_file.load().network
    layers: dict[str, int] = {}
    for weights in fields(network):
        layer = weights.name.rsplit("_", 1)[0]
        layers[layer] = layers.get(layer, 0) + getattr(network, weights.name).size
    rows = [Row(layer, "", {}, {"weights": count}) for layer, count in layers.items()]
    rows.append(Row("trainable", "", {"weights": 22_800}, {"weights": network.trainable_weights}))
    return Table(
        "table-6",
        "The likelihood network: a frozen 3x3 convolution, two 1x1 convolutions, the mean over the cells, three dense "
        "layers.",
        rows,
        ("weights",),
        unit="layer",
    )
