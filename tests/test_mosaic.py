"""The short way from a sensor's pixels to a thumbnail is the same as the plain one over averaged planes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from greycard import GreycardError, photo, raw, thumbnail

X_TRANS = "GGRGGBGGBGGRBRGRBGGGBGGRGGRGGBRBGBRG"
PATTERNS = {
    **dict.fromkeys(("RGGB", "BGGR", "GRBG", "GBRG", "RG-B"), (2, 2)),
    X_TRANS: (6, 6),
    "RGB": (1, 3),
    "RGB-": (1, 4),
}
WHITE = 4095


def colours_of(pattern):
    return np.array(["RGB".find(colour) for colour in pattern]).reshape(PATTERNS[pattern])


def plainly(shown):
    """The thumbnail by way of planes and of a mask of what is clipped."""
    clipped = shown.stored.clipped
    mask = clipped if shown.mask is None else clipped | shown.mask
    return thumbnail.from_photo(replace(shown, stored=shown.pixels, mask=mask))


@st.composite
def photos(draw):
    """Noise with holes, dark and clipped places, of every pattern, size and black, with or without mask and shading."""
    pattern = draw(st.sampled_from(sorted(PATTERNS)))
    colours = colours_of(pattern)
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    height, width = (draw(st.integers(9 * period, 200)) for period in colours.shape)
    black = generator.integers(0, 300, colours.shape) * draw(st.sampled_from([0, 1, -1]))
    levels = np.tile(black, (height // len(black) + 1, width // black.shape[1] + 1))[:height, :width]
    stored = levels + generator.integers(-8, draw(st.sampled_from([10, 500, 4000])), (height, width))
    blocks = np.kron(generator.random((height // 12 + 1, width // 12 + 1)), np.ones((12, 12)))[:height, :width]
    stored = np.where(blocks < draw(st.sampled_from([0, 0.2])), levels, stored)
    stored = np.where(blocks > draw(st.sampled_from([0.6, 0.95, 1])), WHITE, stored)
    stored[generator.random(stored.shape) < draw(st.sampled_from([0, 0.01]))] = WHITE
    mosaic, span = raw.with_levels(
        np.clip(stored, 0, WHITE).astype(np.uint16), colours, black.astype(np.float32), WHITE
    )
    mask = generator.random(mosaic.shape) < 0.2 if draw(st.booleans()) else None
    shading = generator.uniform(1, 2, (64, 64, 3)).astype(np.float32) if draw(st.booleans()) else None
    return photo.Photo(mosaic, np.zeros(3, np.float32), span, mask, shading=shading)


@settings(deadline=None, max_examples=150)
@given(photos(), st.sampled_from([None, (0.1, 0.25, 0.8, 0.9), (0.5, 0, 1, 0.6)]))
def test_thumbnails_agree_with_those_of_the_planes(shown, region):
    part = shown if region is None else photo.crop(shown, region)
    try:
        expected = plainly(part)
    except GreycardError as refused:
        with pytest.raises(GreycardError) as caught:
            thumbnail.from_part(shown, region)
        assert str(caught.value) == str(refused)  # noqa: PT017
        return
    found = thumbnail.from_part(shown, region)
    # Rounding may fall on either side of "more than half of the area"; it has no other way to matter.
    kept, expected_kept = (np.any(cells != 0, axis=-1) for cells in (found, expected))
    assert np.mean(kept != expected_kept) < 0.001
    both = kept & expected_kept
    np.testing.assert_allclose(found[both], expected[both], rtol=1e-5, atol=1e-7)


@given(photos())
@settings(deadline=None, max_examples=20)
def test_parts_of_a_photo_hold_what_is_there(shown):
    height, width = shown.shape
    assume(height > 3)
    part = photo.crop(shown, (0.25, 0.5, 0.75, 1))
    rows, columns = slice(round(height / 2), height), slice(round(width / 4), round(width * 3 / 4))
    np.testing.assert_array_equal(part.pixels, shown.pixels[rows, columns])
    np.testing.assert_array_equal(part.stored.clipped, shown.stored.clipped[rows, columns])


def test_planes_are_not_made_for_a_thumbnail():
    stored = np.random.default_rng(0).integers(0, 4000, (200, 300), dtype=np.uint16)
    mosaic, span = raw.with_levels(stored, colours_of("RGGB"), np.zeros((2, 2), np.float32), WHITE)
    thumbnail.from_photo(photo.Photo(mosaic, np.zeros(3, np.float32), span))
    assert not {"planes", "clipped"} & set(vars(mosaic))


def test_a_clipped_frame_is_refused_and_so_is_one_at_black():
    for value in (WHITE, 128):
        stored = np.full((200, 300), value, np.uint16)
        mosaic, span = raw.with_levels(stored, colours_of("GRBG"), np.full((2, 2), 128, np.float32), WHITE)
        with pytest.raises(GreycardError, match="only 0 of 15000 pixels can be used"):
            thumbnail.from_photo(photo.Photo(mosaic, np.zeros(3, np.float32), span))


@pytest.mark.parametrize("name", ["canon_eos_550d_colour_chart", "canon_eos_6d_linear", "gopro_fusion", "gopro_hero6"])
def test_thumbnails_of_real_files_agree_with_those_of_the_planes(raw_folder, name):
    shown = photo.read(raw_folder / f"{name}.dng")
    np.testing.assert_allclose(thumbnail.from_photo(shown), plainly(shown), rtol=1e-5)
