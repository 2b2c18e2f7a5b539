"""A model as an ONNX file: thumbnails and candidates in, posterior and illuminant out.

The graph does all that greycard does after the thumbnail: which cells count, the logarithm, one convolution, the shifts
of the candidates, the network, the posterior and its mean. It evaluates all cells and all candidates: `exact`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greycard.errors import GreycardError
from greycard.likelihood import Network, log_likelihoods
from greycard.model_file import Model
from greycard.output import write_whole
from greycard.thumbnail import FEWEST_CELLS, FLOOR, SIZE, log_image

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET = 17
TOLERANCE = 1e-4
"""Largest difference of a log-likelihood from greycard's own with which a file is written."""


def write(model: Model, path: str | Path) -> float:
    """Write an ONNX file, after running it and comparing with `exact`; returns the largest difference that was seen."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise GreycardError("an ONNX file needs onnx and onnxruntime: pip install 'greycard[onnx]'") from error
    content = graph(model.network, model.name).SerializeToString()
    difference = _largest_difference(content, model)
    if difference > TOLERANCE:
        raise GreycardError(f"{path}: the ONNX graph differs from greycard by {difference:g}, so it was not written")
    write_whole(path, content)
    return difference


def graph(network: Network, name: str) -> ModelProto:
    """The ONNX model. Sizes that may differ from call to call: `images`, the batch, and `n`, the candidates.

    Inputs: thumbnails (images, 64, 64, 3) linear, black removed, masked cells 0; candidates (n, 3) unit length;
    gain (n,), ones unless learned; log_prior (n,), zeros for a flat one.
    Outputs: log_likelihoods and posterior (images, n), illuminant (images, 3).
    """
    from onnx import TensorProto, helper

    build = _Graph()
    _preprocessing(build)
    _network(build, network)
    _posterior(build)
    floats = TensorProto.FLOAT
    inputs: dict[str, list[str | int | None]]
    inputs = {"thumbnails": ["images", SIZE, SIZE, 3], "candidates": ["n", 3], "gain": ["n"], "log_prior": ["n"]}
    outputs: dict[str, list[str | int | None]]
    outputs = {"log_likelihoods": ["images", "n"], "posterior": ["images", "n"], "illuminant": ["images", 3]}
    made = helper.make_graph(
        build.nodes,
        name,
        [helper.make_tensor_value_info(key, floats, shape) for key, shape in inputs.items()],
        [helper.make_tensor_value_info(key, floats, shape) for key, shape in outputs.items()],
        build.constants,
    )
    # The version of the format that belongs to the operators, not that of the installed onnx: older runtimes read it.
    operators = [helper.make_opsetid("", OPSET)]
    return helper.make_model(made, opset_imports=operators, ir_version=8, producer_name="greycard")


class _Graph:
    """Nodes and constants of a graph that is being built; an output's name is that of its variable."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """A node with one output; returns its name."""
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """An array in the file; returns its name."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def number(self, name: str, value: float) -> str:
        """A constant float."""
        return self.constant(name, np.array(value, dtype=np.float32))

    def axes(self, *axes: int) -> str:
        """Constant numbers of axes."""
        name = "axes_" + "_".join(str(axis).replace("-", "m") for axis in axes)
        if all(one.name != name for one in self.constants):
            self.constant(name, np.array(axes, dtype=np.int64))
        return name


def _preprocessing(build: _Graph) -> None:
    """thumbnails -> log_image (images, 3, 64, 64) and weight (images, 1, 64, 64): 1 where a cell counts."""
    zero, one = build.number("zero", 0.0), build.number("one", 1.0)
    cells = build.add("Transpose", ["thumbnails"], "cells", perm=[0, 3, 1, 2])
    least = build.add("ReduceMin", [cells], "least", axes=[1], keepdims=1)
    positive = build.add("Greater", [least, zero], "positive")
    valid = build.add("Cast", [positive], "valid", to=1)
    # The mean over valid cells and channels: exposure drops out.
    masked = build.add("Mul", [cells, valid], "masked")
    total = build.add("ReduceSum", [masked, build.axes(1, 2, 3)], "total", keepdims=1)
    valid_count = build.add("ReduceSum", [valid, build.axes(1, 2, 3)], "valid_count", keepdims=1)
    three = build.number("three", 3.0)
    mean = build.add("Div", [total, build.add("Mul", [valid_count, three], "numbers")], "mean")
    relative = build.add("Div", [cells, mean], "relative")
    build.add("Log", [build.add("Max", [relative, build.number("floor", FLOOR)], "floored")], "log_image")
    # A cell is surrounded if no invalid one is among its neighbours; what lies outside the frame does no harm.
    invalid = build.add("Sub", [one, valid], "invalid")
    near_invalid = build.add("MaxPool", [invalid], "near_invalid", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    surrounded = build.add("Sub", [one, near_invalid], "surrounded")
    count = build.add("ReduceSum", [surrounded, build.axes(1, 2, 3)], "surrounded_count", keepdims=1)
    fewest = build.number("fewest", FEWEST_CELLS - 0.5)
    enough = build.add("Greater", [count, fewest], "enough")
    build.add("Where", [enough, surrounded, valid], "weight")


def _network(build: _Graph, network: Network) -> None:
    """log_image, weight, candidates -> log_likelihoods (images, n)."""
    kernel = build.constant("convolution_weight", network.convolution_weight.transpose(3, 2, 0, 1))
    pads = build.constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1], dtype=np.int64))
    padded = build.add("Pad", ["log_image", pads], "padded", mode="edge")
    bias = build.constant("convolution_bias", network.convolution_bias)
    features = build.add("Conv", [padded, kernel, bias], "features", kernel_shape=[3, 3])
    last = build.add("Transpose", [features], "features_last", perm=[0, 2, 3, 1])
    of_candidates = build.add("Unsqueeze", [last, build.axes(1)], "of_candidates")  # images, 1, rows, columns, 64
    sums = build.constant("kernel_sums", network.convolution_weight.sum(axis=(0, 1)))
    logs = build.add("Log", ["candidates"], "log_candidates")
    shifts = build.add("Unsqueeze", [build.add("MatMul", [logs, sums], "shifts"), build.axes(1, 2)], "shifts_of_cells")
    hidden = build.add("Relu", [build.add("Sub", [of_candidates, shifts], "shifted")], "layer0")  # with n in place of 1
    hidden = _dense(build, network, "cell1", hidden)
    hidden = _dense(build, network, "cell2", hidden)
    # First along the rows, then over them: a sum of thousands of floats in one go would lose digits.
    weights = build.add("Unsqueeze", ["weight", build.axes(3)], "weights_of_rows")  # images, 1, rows, 1, columns
    row_sums = build.add("MatMul", [weights, hidden], "row_sums")  # images, n, rows, 1, 128
    sums = build.add("ReduceSum", [row_sums, build.axes(2, 3)], "sums_of_cells", keepdims=0)
    count = build.add("ReduceSum", ["weight", build.axes(2, 3)], "count", keepdims=0)
    means = build.add(
        "Div", [sums, build.add("Unsqueeze", [count, build.axes(2)], "counts")], "means"
    )  # images, n, 128
    hidden = _dense(build, network, "dense1", means)
    hidden = _dense(build, network, "dense2", hidden)
    scores = _dense(build, network, "dense3", hidden, relu=False)
    build.add("Squeeze", [scores, build.axes(2)], "log_likelihoods")


def _dense(build: _Graph, network: Network, layer: str, inputs: str, *, relu: bool = True) -> str:
    """A layer over the last axis."""
    weight = build.constant(f"{layer}_weight", getattr(network, f"{layer}_weight"))
    bias = build.constant(f"{layer}_bias", getattr(network, f"{layer}_bias"))
    added = build.add("Add", [build.add("MatMul", [inputs, weight], f"{layer}_product"), bias], f"{layer}_sum")
    return build.add("Relu", [added], f"{layer}_out") if relu else added


def _posterior(build: _Graph) -> None:
    """log_likelihoods, gain, log_prior, candidates -> posterior (images, n) and illuminant (images, 3), unit length."""
    scores = build.add("Add", [build.add("Mul", ["log_likelihoods", "gain"], "gained"), "log_prior"], "scores")
    posterior = build.add("Softmax", [scores], "posterior", axis=-1)
    mean = build.add("MatMul", [posterior, "candidates"], "mean_candidate")
    length = build.add("ReduceL2", [mean], "length", axes=[-1], keepdims=1)
    build.add("Div", [mean, length], "illuminant")


def _largest_difference(content: bytes, model: Model) -> float:
    """Between the log-likelihoods of the file in onnxruntime and greycard's, on thumbnails that are made up."""
    import onnxruntime

    generator = np.random.default_rng(0)
    blocks = generator.uniform(0.05, 1, (2, 8, 8, 3)).repeat(8, axis=1).repeat(8, axis=2)
    thumbnails = (blocks * generator.uniform(0.9, 1.1, (2, SIZE, SIZE, 3))).astype(np.float32)
    thumbnails[1, :9, 20:40] = 0
    candidates = model.any_camera.illuminants[::17].astype(np.float32)
    ones = np.ones(len(candidates), np.float32)
    inputs = {"thumbnails": thumbnails, "candidates": candidates, "gain": ones, "log_prior": 0 * ones}
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    found = session.run(["log_likelihoods"], inputs)[0]
    expected = [log_likelihoods(model.network, log_image(one), candidates.astype(np.float64)) for one in thumbnails]
    return float(np.abs(found - np.array(expected)).max())
