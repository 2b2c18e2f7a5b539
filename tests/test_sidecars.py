import base64
import errno
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import two_matrices, write_dng
from greycard import GreycardError, sidecars
from greycard.camera import ColourMatrices
from greycard.illuminant import angular_error, colour_science, gains, unit
from greycard.sidecars import Balance, Kept, adobe, darktable, rawtherapee

TUNGSTEN = np.array([[0.7546, -0.1435, -0.0929], [-0.3846, 1.1488, 0.2692], [-0.0332, 0.1209, 0.637]])
DAYLIGHT = np.array([[0.7034, -0.0804, -0.1014], [-0.442, 1.2564, 0.2058], [-0.0851, 0.1994, 0.5758]])
TWO = ColourMatrices((TUNGSTEN, DAYLIGHT), (2856.0, 6504.0))
PROGRAMS = {"rawtherapee": rawtherapee, "darktable": darktable, "adobe": adobe}
HERE = Path("IMG_1.CR2")


def seen(temperature, duv):
    """What the camera sees of a light."""
    colour = colour_science()
    uv = colour.temperature.CCT_to_uv_Ohno2013(np.array([temperature, duv]))
    return unit(TWO.at(temperature) @ colour.xy_to_XYZ(colour.UCS_uv_to_xy(uv)))


LIGHT = seen(3200, 0.004)


@pytest.fixture
def picture(tmp_path):
    tags = two_matrices(TUNGSTEN, DAYLIGHT)
    return write_dng(tmp_path / "Höhle 1.dng", np.full((64, 80), 900, np.uint16), tags=tags)


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=15, deadline=None)
@given(temperature=st.floats(2600, 9000), duv=st.floats(-0.01, 0.007))  # RawTherapee's range ends not far beyond
def test_what_is_written_reads_back_as_the_same_light(program, temperature, duv):
    light = seen(temperature, duv)
    text = PROGRAMS[program].written(None, Balance(light, TWO), HERE, False)
    found = PROGRAMS[program].read(text.encode(), TWO, HERE)
    assert float(angular_error(found, light)) < 0.15


SNAPSHOT = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" xmlns:crss="http://ns.adobe.com/s/">
<crss:Parameters><rdf:Description crs:WhiteBalance="Custom" crs:Temperature="4000" crs:Tint="+5"/></crss:Parameters>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def test_a_snapshot_inside_a_sidecar_is_neither_read_nor_changed():
    assert adobe.read(SNAPSHOT.encode(), TWO, HERE) is None
    text = adobe.written(SNAPSHOT.encode(), Balance(LIGHT, TWO), HERE, False)
    assert 'crs:Temperature="4000"' in text
    assert text.count('crs:WhiteBalance="Custom"') == 2
    assert adobe.read(text.encode(), TWO, HERE) is not None


def test_a_balance_that_adobe_chose_is_nobodys_choice():
    text = adobe.written(None, Balance(LIGHT, TWO), HERE, False).replace('="Custom"', '="Auto"')
    assert adobe.read(text.encode(), TWO, HERE) is None


def test_xml_that_hides_in_another_encoding_is_refused():
    hidden = '<!DOCTYPE x [<!ENTITY e "boo">]><x>&e;</x>'.encode("utf-16")
    with pytest.raises(GreycardError, match="not in UTF-8"):
        adobe.read(hidden, TWO, HERE)


def test_the_sidecars_lie_where_the_programs_look():
    assert rawtherapee.path_of(HERE) == Path("IMG_1.CR2.pp3")
    assert darktable.path_of(HERE) == Path("IMG_1.CR2.xmp")
    assert adobe.path_of(HERE) == Path("IMG_1.xmp")


def test_adobes_numbers_are_those_of_daylight():
    """D65 is 6500 K with a tint of about +10, because daylight lies above the Planckian locus."""
    temperature, tint = adobe.settings(Balance(DAYLIGHT @ [0.9505, 1, 1.0888], TWO), HERE)
    assert temperature == pytest.approx(6500, abs=20)
    assert tint == pytest.approx(10, abs=1)


def test_darktables_step_holds_the_multipliers():
    root = ElementTree.fromstring(darktable.written(None, Balance(LIGHT), HERE, False))
    first, second = root.findall(f".//{darktable.RDF}li")
    values = struct.unpack("<4f", bytes.fromhex(first.get(f"{darktable._DT}params")))
    np.testing.assert_allclose(values, [*gains(LIGHT), 1], rtol=1e-6)
    assert (second.get(f"{darktable._DT}operation"), second.get(f"{darktable._DT}enabled")) == ("channelmixerrgb", "0")
    assert len(bytes.fromhex(second.get(f"{darktable._DT}params"))) == 160


PP3 = "[Version]\nVersion=349\n\n[Exposure]\nCompensation=0.7\nName=für\n{}\n[Crop]\nEnabled=false\n"


def test_a_pp3_keeps_everything_else():
    old = PP3.format("[White Balance]\nSetting=Camera\nTemperature=5000\nStandardObserver=TWO_DEGREES\n")
    with pytest.raises(Kept, match="has a white balance already; use --overwrite"):
        rawtherapee.written(old.encode(), Balance(LIGHT, TWO), HERE, False)
    new = rawtherapee.written(old.encode(), Balance(LIGHT, TWO), HERE, True)
    before, after = (rawtherapee._sections(text.encode(), HERE) for text in (old, new))
    assert after["White Balance"].pop("Setting") == "Custom"
    assert after["White Balance"]["StandardObserver"] == "TWO_DEGREES"
    assert {**before, "White Balance": 0} == {**after, "White Balance": 0}
    assert new.index("[White Balance]") < new.index("[Crop]")


def test_a_pp3_without_a_white_balance_gets_one_unasked():
    new = rawtherapee.written(PP3.format("").encode(), Balance(LIGHT, TWO), HERE, False)
    assert rawtherapee._sections(new.encode(), HERE)["White Balance"]["Setting"] == "Custom"
    assert new.startswith(PP3.format("").rstrip())


XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" xmlns:darktable="http://darktable.sf.net/"
 xmp:Rating="4" {attributes}><dc:subject><rdf:Bag><rdf:li>Höhle</rdf:li></rdf:Bag></dc:subject>{elements}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


def test_an_adobe_sidecar_keeps_everything_else():
    old = XMP.format(
        attributes='crs:Exposure2012="+0.55" crs:ProcessVersion="11.0"',
        elements="<crs:WhiteBalance>Custom</crs:WhiteBalance><crs:Temperature>5000</crs:Temperature>",
    ).encode()
    with pytest.raises(Kept):
        adobe.written(old, Balance(LIGHT, TWO), HERE, False)
    new = adobe.written(old, Balance(LIGHT, TWO), HERE, True)
    for kept in ('xmp:Rating="4"', 'crs:Exposure2012="+0.55"', "<rdf:li>Höhle</rdf:li>", "<?xpacket end"):
        assert kept in new
    assert new.count("Temperature") == 1
    assert adobe.read(new.encode(), TWO, HERE) is not None


CALIBRATION = struct.pack("<24f6i4i4f2i", *range(24), 0, 0, 0, 0, 0, 1, 2, 2, 4, 1, 0.4, 0.4, 4000.0, 1.0, 1, 2)


def steps(*operations, end):
    """A darktable sidecar: operations as (name, enabled, parameters)."""
    items = "".join(
        f'<rdf:li darktable:num="{number}" darktable:operation="{name}" darktable:enabled="{enabled}" '
        f'darktable:modversion="3" darktable:params="{parameters}" darktable:multi_priority="0" darktable:x="kept"/>'
        for number, (name, enabled, parameters) in enumerate(operations)
    )
    history = f"<darktable:history><rdf:Seq>{items}</rdf:Seq></darktable:history>"
    attributes = f'darktable:xmp_version="4" darktable:history_end="{end}" darktable:auto_presets_applied="1"'
    return XMP.format(attributes=attributes, elements=history).encode()


def history_of(text):
    root = ElementTree.fromstring(text[text.index("<x:xmpmeta") : text.index("</x:xmpmeta>") + 12])
    found = root.findall(f".//{darktable._DT}history/{darktable.RDF}Seq/{darktable.RDF}li")
    end = root.find(f".//{darktable.RDF}Description").get(f"{darktable._DT}history_end")
    return [{key.rsplit("}", 1)[1]: value for key, value in step.attrib.items()} for step in found], int(end)


def test_a_darktable_sidecar_keeps_its_history_and_calibration_stops_correcting_the_light():
    packed = "gz04" + base64.b64encode(zlib.compress(CALIBRATION)).decode()
    old = steps(("exposure", 1, "00"), ("channelmixerrgb", 1, packed), ("sharpen", 1, "01"), end=2)
    found, end = history_of(darktable.written(old, Balance(LIGHT), HERE, False))
    names = [step["operation"] for step in found]
    assert names == ["exposure", "channelmixerrgb", "temperature", "channelmixerrgb", "sharpen"]
    assert [step["num"] for step in found] == list("01234")
    assert end == 4  # what was undone stays undone
    assert found[0]["x"] == "kept"
    again = bytes.fromhex(found[3]["params"])
    assert again[:120] == CALIBRATION[:120]
    assert struct.unpack_from("<i", again, 120) == (0,)
    assert again[124:] == CALIBRATION[124:]


def test_a_darktable_sidecar_keeps_its_white_balance_unless_it_may_go():
    old = steps(("temperature", 1, struct.pack("<4f", 2, 1, 1.5, 1).hex()), end=1)
    with pytest.raises(Kept):
        darktable.written(old, Balance(LIGHT), HERE, False)
    new = darktable.written(old, Balance(LIGHT), HERE, True)
    assert float(angular_error(darktable.read(new.encode(), None, HERE), LIGHT)) < 1e-3
    np.testing.assert_allclose(darktable.read(old, None, HERE), unit([0.5, 1, 1 / 1.5]), rtol=1e-6)


def test_a_balance_that_colour_calibration_decides_is_not_read_as_a_label():
    balance = ("temperature", 1, struct.pack("<4f", 2, 1, 1.5, 1).hex())
    assert darktable.read(steps(balance, ("channelmixerrgb", 1, CALIBRATION.hex()), end=2), None, HERE) is None
    assert darktable.read(steps(balance, ("channelmixerrgb", 0, CALIBRATION.hex()), end=2), None, HERE) is not None
    assert darktable.read(steps(balance, end=0), None, HERE) is None


@pytest.mark.parametrize(
    ("program", "content", "message"),
    [
        ("darktable", b"no xml", "is not XML"),
        ("adobe", b"<a><b></a>", "is not XML"),
        ("adobe", b"", "is not XML"),
        ("adobe", b"<a/>", "no XMP"),
        ("adobe", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "document type"),
        ("adobe", XMP.format(attributes='crs:ProcessVersion="99.0"', elements="").encode(), "version 99.0, newer"),
        ("darktable", XMP.format(attributes='darktable:xmp_version="77"', elements="").encode(), "version 77, newer"),
        ("rawtherapee", b"[Version]\nVersion=4000\n", "version 4000, newer"),
        ("rawtherapee", b"nothing", "no section"),
        ("rawtherapee", b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_what_is_not_understood_is_not_touched(picture, program, content, message):
    path = PROGRAMS[program].path_of(picture)
    path.write_bytes(content)
    with pytest.raises(GreycardError, match=message) as error:
        sidecars.write(picture, program, Balance(LIGHT, TWO), overwrite=True)
    assert str(path) in str(error.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("program", ["rawtherapee", "adobe"])
def test_a_temperature_needs_a_colour_matrix(picture, program):
    with pytest.raises(GreycardError, match="matrix is not known"):
        sidecars.write(picture, program, Balance(LIGHT))
    assert list(picture.parent.iterdir()) == [picture]


def test_a_light_beyond_a_temperature_is_refused(picture):
    with pytest.raises(GreycardError, match="beyond what RawTherapee"):
        sidecars.write(picture, "rawtherapee", Balance(unit([1, 0.1, 0.01]), TWO))


@pytest.mark.parametrize("program", PROGRAMS)
def test_two_runs_at_once_leave_a_whole_file(picture, program):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sidecars.write(picture, program, Balance(LIGHT, TWO), overwrite=True), range(16)))
    path = PROGRAMS[program].path_of(picture)
    assert float(angular_error(PROGRAMS[program].read(path.read_bytes(), TWO, path), LIGHT)) < 0.15
    assert {one.name for one in picture.parent.iterdir()} == {picture.name, path.name}


def test_a_full_disk_leaves_the_old_sidecar(monkeypatch, picture):
    path = sidecars.write(picture, "rawtherapee", Balance(LIGHT, TWO))
    old = path.read_bytes()

    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(GreycardError, match="No space left on device"):
        sidecars.write(picture, "rawtherapee", Balance(seen(7000, 0), TWO), overwrite=True)
    assert path.read_bytes() == old


def test_sidecars_are_labels(picture, tmp_path):
    sidecars.write(picture, "darktable", Balance(LIGHT, TWO))
    bare = picture.with_name("bare.dng")
    bare.write_bytes(picture.read_bytes())
    camera_own = picture.with_name("own.dng")
    camera_own.write_bytes(picture.read_bytes())
    sidecars.write(camera_own, "darktable", Balance(unit([0.5, 1, 0.7]), TWO))  # the camera's, nobody's choice
    files, cameras, lights = sidecars.read_labels([picture, bare, camera_own])
    assert (files, cameras) == ([picture], ["Alpha One"])
    assert float(angular_error(lights[0], LIGHT)) < 1e-3
    assert sidecars.read_labels([bare])[2].shape == (0, 3)
    assert sidecars.read_labels([picture], "adobe")[0] == []


def test_unknown_programs_are_refused(picture):
    with pytest.raises(GreycardError, match="--for: expected one of rawtherapee, darktable, adobe, got 'gimp'"):
        sidecars.write(picture, "gimp", Balance(LIGHT, TWO))
