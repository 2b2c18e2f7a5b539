import struct

import pytest

from greycard import raw_header


def tiff(beginning=b"II*\0", make="NIKON CORPORATION", model="NIKON D90", kind=2):
    """A TIFF with one directory that holds a width, make and model."""
    order = "<" if beginning[:2] == b"II" else ">"
    texts = {271: make.encode() + b"\0", 272: model.encode() + b"\0"}
    at = 8 + 2 + 3 * 12 + 4
    entries, after = [struct.pack(f"{order}HHIHxx", 256, 3, 1, 4000)], b""
    for tag, text in texts.items():
        value = text.ljust(4, b"\0") if len(text) <= 4 else struct.pack(f"{order}I", at + len(after))
        entries.append(struct.pack(f"{order}HHI", tag, kind, len(text)) + value)
        after += text if len(text) > 4 else b""
    directory = struct.pack(f"{order}H", 3) + b"".join(entries) + bytes(4)
    return beginning + struct.pack(f"{order}I", 8) + directory + after


def camera(folder, content):
    (folder / "a.raw").write_bytes(content)
    return raw_header.camera(folder / "a.raw")


@pytest.mark.parametrize(
    ("beginning", "make", "model", "expected"),
    [
        (b"II*\0", "Canon", "Canon EOS 5D", "Canon EOS 5D"),
        (b"MM\0*", "NIKON CORPORATION", "NIKON D90", "NIKON D90"),
        (b"IIRO", "OLYMPUS IMAGING CORP.", "E-PL6", "OLYMPUS E-PL6"),
        (b"IIRS", "OLYMPUS IMAGING CORP.", "C8080WZ", "OLYMPUS C8080WZ"),
        (b"MMOR", "OLYMPUS IMAGING CORP.", "E-1", "OLYMPUS E-1"),
        (b"IIU\0", "Panasonic", "DMC-GX1", "Panasonic DMC-GX1"),
    ],
)
def test_files_that_are_built_like_a_tiff(tmp_path, beginning, make, model, expected):
    assert camera(tmp_path, tiff(beginning, make, model)) == expected


def test_short_names_stand_in_the_directory_itself(tmp_path):
    for beginning in (b"II*\0", b"MM\0*"):
        assert camera(tmp_path, tiff(beginning, "HP", "M1")) == "HP M1"


def test_fujifilm(tmp_path):
    header = b"FUJIFILMCCD-RAW 0201FF383501" + b"X-T1".ljust(32, b"\0") + bytes(100)
    assert camera(tmp_path, header) == "Fujifilm X-T1"


def test_canon_keeps_a_small_tiff_in_a_box(tmp_path):
    small = tiff(make="Canon", model="Canon EOS R5")
    box = struct.pack(">I4s", 8 + len(small), b"CMT1") + small
    boxes = struct.pack(">I4s4sI", 16, b"ftyp", b"crx ", 1) + struct.pack(">I4s", 8 + len(box), b"moov") + box
    assert camera(tmp_path, boxes + bytes(100)) == "Canon EOS R5"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"II",
        b"II*\0",
        b"II*\0" + bytes(4),
        b"II*\0\xff\xff\xff\xff" + bytes(100),
        b"MM\0*" + b"\xff" * 100,
        b"FUJIFILM",
        b"FUJIFILMCCD-RAW 0201FF383501" + bytes(100),
        b"\0\0\0\x10ftypcrx \0\0\0\x01",
        b"\0\0\0\x10ftypcrx CMT1",
        b"CMT1" + b"\xff" * 100,
        b"hello " * 100,
        bytes(1000),
        tiff(model=""),
        tiff(kind=3),
        tiff()[:30],
    ],
)
def test_nonsense_names_no_camera(tmp_path, content):
    assert camera(tmp_path, content) is None


def test_letters_that_are_none_do_no_harm(tmp_path):
    content = tiff(make="Canon", model="EOS 5D").replace(b"EOS 5D", b"EOS \xff\xfe")
    assert camera(tmp_path, content) == "Canon EOS \ufffd\ufffd"
