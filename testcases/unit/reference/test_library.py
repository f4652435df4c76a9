"""The library as documents: devices with their calibration, media with their rates."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check.suite import NOUNS
from qospec.diagnostics import Problems
from qospec.reference.declarations import Declarations
from qospec.reference.explanation import explain_name
from qospec.reference.library import describe_devices, describe_media, load_library, name_module
from qospec.resources import STDLIB
from qospec.syntax import ast


@pytest.fixture(scope="module")
def library() -> Declarations:
    return load_library(discover())


def test_every_device_is_a_document(library: Declarations) -> None:
    declared = [
        declaration
        for declaration in library.list_named()
        if isinstance(declaration.node, ast.Device)
    ]
    assert declared
    assert len(describe_devices(library)) == len(declared)


def test_a_parameter_says_where_it_is_from(library: Declarations) -> None:
    """The words stand behind the parameter, or above the value that its default names."""
    devices = {
        describe_device["name"]: describe_device for describe_device in describe_devices(library)
    }
    encryptor = devices["std.devices.sitline.encryptor"]
    known = {parameter["name"]: parameter for parameter in encryptor["parameters"]}
    assert known["resynchronisation"]["description"].startswith("EANTC 2006")
    assert known["pipeline"]["default"] == "calibrated_pipeline"
    assert known["pipeline"]["value"] == "17.26 us"
    assert known["pipeline"]["description"].startswith("The one calibrated constant.")


def test_a_medium_is_a_line_by_name(library: Declarations) -> None:
    media = {medium["name"]: medium for medium in describe_media(library)}
    assert media["std.media.oc3"]["fields"] == media["std.media.stm1"]["fields"]
    assert all(medium["kind"] == "line" for medium in media.values())
    assert "std.devices.sitline.calibrated_pipeline" not in media


def test_places_name_no_folder_of_this_machine(library: Declarations) -> None:
    places = [entry["place"] for entry in (*describe_devices(library), *describe_media(library))]
    assert all(place.startswith("std/") for place in places)


def test_a_file_is_called_as_it_is_imported() -> None:
    assert name_module(STDLIB / "devices" / "sitline.qos") == "std.devices.sitline"


def test_every_declaration_has_a_noun(library: Declarations) -> None:
    assert {type(declaration.node) for declaration in library.list_named()} <= set(NOUNS)


def test_a_declaration_of_the_library_is_found_as_its_importers_name_it() -> None:
    short, full = (
        explain_name(name, discover(), Problems())
        for name in ("rfc2544.benchmark", "std.procedures.rfc2544.benchmark")
    )
    assert short == full
