import numpy as np
import pytest

from greycard import likelihood, thumbnail
from greycard.datasets import packed
from greycard.illuminant import angular_error, unit

torch = pytest.importorskip("torch", reason="training needs torch")

from greycard.training.network import (  # noqa: E402
    LikelihoodNetwork,
    angular_loss,
    literal_log_likelihoods,
    vgg_first_layer,
)


def three_ways(image, candidates, seed=0):
    """The same log-likelihoods by the literal evaluation, by the torch module, and by NumPy."""
    torch.manual_seed(seed)
    network = LikelihoodNetwork().eval()
    # Weights as large as trained ones, so that differences show.
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 2
    logs, counted = torch.from_numpy(image.values), torch.from_numpy(image.counted)
    lights = torch.from_numpy(candidates.astype(np.float32))
    literal = literal_log_likelihoods(network, logs, counted, lights).detach().numpy()
    features = torch.from_numpy(likelihood.first_layer(network.to_numpy(), image, np.flatnonzero(image.counted)))
    module = network(features[None], lights)[0].detach().numpy()
    return literal, module, likelihood.log_likelihoods(network.to_numpy(), image, candidates)


def assert_all_agree(literal, module, numpy):
    assert np.ptp(literal) > 0.01  # candidates differ, so agreement means something
    np.testing.assert_allclose(module, literal, atol=1e-4)
    np.testing.assert_allclose(numpy, literal, atol=1e-4)


def test_the_shift_agrees_with_the_literal_evaluation_with_masks_at_the_edge():
    generator = np.random.default_rng(0)
    cells = generator.gamma(1, 1, (64, 64, 3))
    cells[:7, :9] = 0
    cells[30:33, 60:] = 0
    cells[50, 20] = [0, 1, 1]
    candidates = unit(generator.uniform(0.2, 1, (9, 3)))
    assert_all_agree(*three_ways(thumbnail.log_image(cells), candidates))


def test_the_shift_agrees_with_the_literal_evaluation_on_real_thumbnails(data_folder):
    for name in ("gehler_shi", "nus8", "cube_plus"):
        data = packed.load(data_folder / f"{name}.npz")
        for row in (0, len(data) // 2):
            assert_all_agree(
                *three_ways(thumbnail.log_image(data.images[row]), data.illuminants[:: len(data) // 8], seed=row)
            )


def test_the_written_out_gradient_is_autograds():
    """In double precision, on fewer cells and candidates than in a step."""
    torch.manual_seed(0)
    network = LikelihoodNetwork(dropout=0.0).double()
    features, candidates = torch.randn(3, 7, 64).double(), torch.rand(5, 3).double() + 0.2

    def gradients(scores):
        network.zero_grad()
        (scores * torch.linspace(-1, 1, 15).view(3, 5)).sum().backward()
        return [parameter.grad.clone() for parameter in network.parameters()]

    cells = torch.relu(features[:, None] - network.shifts(candidates.log())[None, :, None])
    cells = torch.relu(network.cell2(torch.relu(network.cell1(cells))))
    expected = gradients(network.head(cells.mean(dim=2)))
    found = gradients(network(features, candidates))
    for one, other in zip(found, expected, strict=True):
        assert other.abs().max() > 0
        torch.testing.assert_close(one, other)


def test_the_patch_form_of_the_first_layer_is_the_convolution():
    network = LikelihoodNetwork()
    image = torch.randn(3, 8, 8)
    whole = torch.nn.functional.conv2d(image[None], network.convolution_weight, network.convolution_bias)[0]
    patch = image[:, 2:5, 3:6].permute(1, 2, 0).reshape(27)
    torch.testing.assert_close(network.first_layer(patch), whole[:, 2, 3], atol=1e-5, rtol=1e-5)


def test_the_module_has_the_papers_size_and_freezes_the_first_layer():
    network = LikelihoodNetwork()
    assert sum(parameter.numel() for parameter in network.parameters()) == 22_849
    assert network.to_numpy().weights == 24_641
    assert vgg_first_layer()[0].numel() + vgg_first_layer()[1].numel() == 1_792


def test_the_first_layer_is_the_published_one(data_folder):
    with np.load(data_folder / "vgg16_conv1.npz") as published:
        np.testing.assert_array_equal(vgg_first_layer()[0].numpy(), published["weight"])
        np.testing.assert_array_equal(vgg_first_layer()[1].numpy(), published["bias"])


def test_the_loss_is_the_angular_error_and_its_gradient_is_finite_where_it_is_exact():
    generator = np.random.default_rng(1)
    estimates, truths = (unit(generator.uniform(0.1, 1, (50, 3))) for _ in range(2))
    loss = angular_loss(torch.from_numpy(estimates), torch.from_numpy(truths))
    np.testing.assert_allclose(loss.numpy(), angular_error(estimates, truths), atol=1e-4)

    exact = torch.tensor([[0.4, 0.8, 0.5], [0.3, 0.3, 0.3]], requires_grad=True)
    loss = angular_loss(exact, exact.detach().clone())
    loss.sum().backward()
    assert torch.isfinite(exact.grad).all()
    assert loss.max() < 1e-4
