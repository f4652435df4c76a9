"""Projects: `qos.toml`, `qos.lock`, and what leads out of them."""

import os
from pathlib import Path

import pytest

from qospec.check import check
from qospec.check.modules import files
from qospec.check.modules.project import compute_fingerprint
from qospec.diagnostics import Problems

PINNED = '[package.acme]\nfolder = "packages/acme"\nsha256 = "{}"\n'


@pytest.fixture
def project(tmp_path, catalogue, monkeypatch):
    """Return a function that writes files and checks what is named, or the project."""
    monkeypatch.chdir(tmp_path)

    def run(*named, **written):
        for name, text in written.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path = path if path.suffix else path.with_suffix(".qos")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"qos 1\n{text}" if path.suffix == ".qos" else text, encoding="utf-8")
        problems = Problems()
        suite = check([Path(name) for name in named], catalogue, problems).suite
        return suite, problems.all

    return run


@pytest.fixture
def settings(project):
    """Return a function that gives what is reported for a `qos.toml`."""

    def run(text):
        return project("a.qos", qos_DOT_toml=text, a="")[1]

    return run


@pytest.fixture
def locked(project):
    """Return a function that gives what is reported for a `qos.lock` if `acme.lib` is imported."""

    def run(text, **others):
        others = {"a": "import acme.lib\nlet a = lib.b\n", **others}
        others.setdefault("packages__acme__lib", "let b = 1\n")
        return project("a.qos", qos_DOT_toml="", qos_DOT_lock=text, **others)[1]

    return run


def pinned(tmp_path):
    return PINNED.format(compute_fingerprint(tmp_path / "packages" / "acme", 10))


DRAFTS = '[project]\nexclude = ["tests/drafts", "tests/b.qos"]\n'


@pytest.mark.parametrize(
    ("named", "mistakes"),
    [(["."], 0), (["tests"], 0), (["tests/drafts"], 1), (["tests/b.qos", "tests"], 1)],
)
def test_what_is_excluded_is_checked_only_if_it_is_named(project, named, mistakes):
    bad = "let wrong = 3 parsec\n"
    files = {"tests__a": "", "tests__b": bad, "tests__drafts__deep__c": bad}
    _, reported = project(*named, qos_DOT_toml=DRAFTS, **files)
    assert [problem.code for problem in reported] == ["E0201"] * mistakes


def test_what_is_excluded_must_be_there(settings):
    (mistake,) = settings('[project]\nexclude = ["drafts"]\n')
    assert (mistake.code, mistake.span.text) == ("E0106", '["drafts"]')


def test_without_a_path_the_project_s_own_are_checked(project, tmp_path, monkeypatch):
    toml = '[project]\nname = "x"\nedition = 1\npaths = ["tests", "one.qos"]\n'
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    suite, problems = project(qos_DOT_toml=toml, tests__a="", one="", other="let a = none\n")
    assert problems == ()
    assert [source.name.rpartition("/")[2] for source in suite.sources] == ["a.qos", "one.qos"]


def test_without_a_project_the_current_folder_is_checked(project):
    assert [problem.code for problem in project(deep__a="let a = none\n")[1]] == ["E0101"]


@pytest.mark.parametrize(
    ("text", "code", "message", "place"),
    [
        ("[projct]\n", "E0104", "has no table `projct`", "1:2"),
        ("[project]\neditoin = 1\n", "E0104", "[project] has no field `editoin`", "2:1"),
        ('[project]\nedition = "1"\n', "E0204", "`edition` is a whole number, not a text", "2:11"),
        ("[project]\nedition = true\n", "E0204", "not true or false", "2:11"),
        ("[project]\nedition = 2\n", "E0002", "edition 2 of the language is not known", "2:11"),
        ("project = 1\n", "E0204", "`project` is a table, not a whole number", "1:11"),
        ('[project]\npaths = "a"\n', "E0204", "`paths` is a list of texts", "2:9"),
        ("[project]\npaths = [1]\n", "E0204", "`paths` is a list of texts", "2:9"),
        ('[project]\npaths = ["../x"]\n', "E0110", "`../x` is not a path of the project", "2:9"),
        ('[project]\npaths = ["/etc"]\n', "E0110", "`/etc` is not a path", "2:9"),
        ('[project]\npaths = ["none"]\n', "E0106", "no file or folder is at `none`", "2:9"),
        ('[project]\npaths = ["\\u0000"]\n', "E0110", "is not a path of the project", "2:9"),
        ("[project\n", "E0116", "qos.toml is not TOML: expected ']'", "1:9"),
        ("a = 1\na = 2\n", "E0116", "cannot overwrite a value", "2:6"),
        ("a = " + "[" * 9999, "E0116", "nested too deeply", "1:1"),
        ("a = " + "9" * 9999, "E0116", "qos.toml is not TOML: exceeds the limit", "1:1"),
        ("#" * 200_001, "E0116", "more than 200_000 characters", "1:1"),
        ('a = {b = {c = 1}}\nd = """\nx = 1\n"""\n', "E0104", "has no table `a`", "1:1"),
    ],
)
def test_what_is_wrong_in_the_project_s_file_is_reported_there(
    settings, text, code, message, place
):
    problem = settings(text)[0]
    assert (problem.code, problem.span.place) == (code, f"qos.toml:{place}")
    assert message in problem.message


def test_a_field_that_is_misspelt_comes_with_the_one_that_is_meant(settings):
    (problem,) = settings("[project]\neditoin = 1\n")
    assert problem.help == "write `edition`"
    assert problem.notes == ("fields of [project]: name edition paths exclude",)


def test_a_project_s_file_that_is_not_text(project, tmp_path):
    (tmp_path / "qos.toml").write_bytes(b"a = '\xff'\n")
    assert [problem.code for problem in project("a.qos", a="")[1]] == ["E0109"]


def test_a_project_s_file_that_is_no_file(project, tmp_path):
    (tmp_path / "qos.toml").mkdir()
    (problem,) = project("a.qos", a="")[1]
    assert (problem.code, problem.message) == ("E0108", "qos.toml cannot be read: it is a folder")
    (tmp_path / "qos.toml").rmdir()
    (tmp_path / "qos.toml").symlink_to("qos.toml")
    assert [problem.code for problem in project("a.qos", a="")[1]] == ["E0108"]


def test_a_package_is_imported_by_its_name(locked, tmp_path):
    (problem,) = locked(PINNED.format("0"))
    assert (problem.code, problem.span.place) == ("E0117", "qos.lock:3:10")
    assert pinned(tmp_path).splitlines()[2] in problem.help
    assert locked(pinned(tmp_path)) == ()


def test_a_package_s_own_imports_begin_at_its_folder(locked, tmp_path):
    files_of_it = {
        "packages__acme__lib": "import deep.part\nlet b = part.c\n",
        "packages__acme__deep__part": "let c = 1\n",
    }
    locked(PINNED.format("0"), **files_of_it)
    assert locked(pinned(tmp_path), **files_of_it) == ()


def test_a_package_of_which_a_file_was_changed_is_refused(locked, tmp_path):
    locked(PINNED.format("0"))
    known = pinned(tmp_path)
    assert [problem.code for problem in locked(known, packages__acme__new="")] == ["E0117"]


def test_a_file_of_a_package_is_not_imported_round_its_pin(locked, tmp_path):
    locked(PINNED.format("0"))
    (problem,) = locked(pinned(tmp_path), a="import packages.acme.lib\n")
    assert (problem.code, problem.help) == ("E0117", "write `import acme.lib`")


@pytest.mark.parametrize(
    "beginning", ["#" * 70_000 + "\nqos: 1", '"q\\x6fs": 1', "{ # c\n qos: 1}", "? qos\n: 1"]
)
def test_a_file_of_a_package_is_pinned_however_it_begins(locked, tmp_path, beginning):
    text = f"{beginning}\n" if beginning.startswith("{") else f"{beginning}\nlet: {{b: 1}}\n"
    written = {"packages__acme__other.yaml": text}
    locked(PINNED.format("0"), **written)
    known = pinned(tmp_path)
    assert locked(known, **written) == ()
    written = {"packages__acme__other.yaml": f"{text}# changed\n"}
    assert [problem.code for problem in locked(known, **written)] == ["E0117"]


@pytest.mark.parametrize("named", [".", "packages", "packages/acme/lib.qos", "link.qos"])
def test_a_package_that_was_changed_is_refused_where_its_files_are_named(project, tmp_path, named):
    lock = {"qos_DOT_toml": "", "qos_DOT_lock": PINNED.format("0")}
    (tmp_path / "link.qos").symlink_to("packages/acme/lib.qos")
    suite, (problem,) = project(named, packages__acme__lib="", packages__acme__part="", **lock)
    assert (problem.code, problem.span.place) == ("E0117", "qos.lock:3:10")
    assert problem.secondary == ()
    assert [source.name for source in suite.sources] == []


def test_the_imports_of_a_package_s_file_begin_at_its_folder_where_it_is_named(project, tmp_path):
    written = {
        "packages__acme__deep__lib": "import deep.part\nlet b = part.c\n",
        "packages__acme__deep__part": "let c = 1\n",
        "qos_DOT_toml": "",
    }
    project(".", qos_DOT_lock=PINNED.format("0"), **written)
    for named in (".", "packages/acme/deep/lib.qos"):
        assert project(named, qos_DOT_lock=pinned(tmp_path), **written)[1] == ()


def test_a_package_within_a_package(project, tmp_path):
    written = {
        "a": "import inner.deep\nimport outer.top\nlet a = deep.x + top.y\n",
        "vendor__pkg__top": "let y = 1\n",
        "vendor__pkg__sub__deep": "let x = 1\n",
        "qos_DOT_toml": "",
    }
    project("a.qos", **written)
    lock = "".join(
        f'[package.{name}]\nfolder = "{folder}"\nsha256 = "{digest}"\n'
        for name, folder in (("outer", "vendor/pkg"), ("inner", "vendor/pkg/sub"))
        for digest in [compute_fingerprint(tmp_path / folder, 9)]
    )
    assert project("a.qos", qos_DOT_lock=lock, **written)[1] == ()


def test_a_package_and_a_folder_of_one_name(locked, tmp_path):
    locked(PINNED.format("0"))
    assert [problem.code for problem in locked(pinned(tmp_path), acme__lib="")] == ["E0111"]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("[package.acme]\n", "E0105", "[package.acme] needs `folder`"),
        ('[package.acme]\nfolder = "none"\nsha256 = ""\n', "E0106", "no file or folder is at"),
        ('[package.acme]\nfolder = "../x"\nsha256 = ""\n', "E0110", "is not a path"),
        ('[package.acme]\nfolder = "a.qos"\nsha256 = ""\n', "E0117", "`acme` is not a folder"),
        ('[package.std]\nfolder = "packages/acme"\nsha256 = ""\n', "E0116", "`std` is the library"),
        ('[package."a b"]\nfolder = "a"\nsha256 = ""\n', "E0116", "`a b` cannot be a package"),
        ("package = 1\n", "E0204", "`package` is a table"),
        ("[package]\nacme = 1\n", "E0116", "`acme` cannot be a package"),
        ("[pakage.acme]\n", "E0104", "has no table `pakage`"),
        ("[package.acme]\nfodler = 1\n", "E0104", "[package.acme] has no field `fodler`"),
        ("[package.acme\n", "E0116", "qos.lock is not TOML"),
    ],
)
def test_what_is_wrong_in_the_lock_is_reported_there_and_nothing_that_follows(
    locked, text, code, message
):
    problem, *more = locked(text)
    assert (problem.code, problem.span.source.name) == (code, "qos.lock")
    assert message in problem.message
    assert all(problem.span.source.name == "qos.lock" for problem in more)


def test_paths_of_the_project_do_not_lead_out_by_links(project, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "out").symlink_to(tmp_path)
    toml = '[project]\npaths = ["out"]\n'
    (problem,) = project("inner/a.qos", inner__qos_DOT_toml=toml, inner__a="")[1]
    assert problem.code == "E0110"
    assert "leads out of the project" in problem.message


def test_a_link_in_a_folder_may_not_lead_out(project, tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "a.qos").symlink_to("../a.qos")
    (problem,) = project("suite", a="")[1]
    assert (problem.code, problem.span.source.name) == ("E0110", "suite/a.qos")
    assert project("suite/a.qos", a="")[1] == ()


def test_a_folder_that_may_not_be_read(project, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied", "closed")

    monkeypatch.setattr(os, "scandir", refuse)
    (problem,) = project(".", closed__a="")[1]
    assert (problem.code, problem.message) == ("E0108", "closed cannot be read: permission denied")


def test_a_folder_where_a_file_is_meant(project):
    (problem,) = project("a.qos", a="import lab\n", lab__bench="")[1]
    assert (problem.code, problem.notes) == ("E0106", ("lab is a folder",))
    assert problem.help == "name a file in it: `import lab.bench`"


def test_a_folder_with_the_name_of_the_file(project, tmp_path):
    (tmp_path / "lab.qos").mkdir()
    (problem,) = project("a.qos", a="import lab\n")[1]
    assert (problem.code, problem.message) == ("E0108", "lab.qos cannot be read: it is a folder")


def test_an_import_by_links_in_a_circle(project, tmp_path):
    (tmp_path / "lab.qos").symlink_to("lab.qos")
    (problem,) = project("a.qos", a="import lab\n")[1]
    assert (problem.code, problem.span.place) == ("E0108", "a.qos:2:8")


def test_an_import_with_a_name_too_long_for_the_system(project):
    assert [problem.code for problem in project("a.qos", a=f"import {'a' * 300}\n")[1]] == ["E0106"]


def test_an_import_by_a_folder_that_leads_out(project, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "up").symlink_to(tmp_path)
    (problem,) = project("inner/a.qos", inner__a="import up.b\n", b="")[1]
    assert problem.code == "E0110"


def test_a_name_that_only_looks_like_it(project):
    written = {"a": "import lab\n", "l\u0430b": ""}
    (problem,) = project("a.qos", **written)[1]
    assert (problem.code, problem.label, problem.help) == ("E0106", "", "")
    assert "U+0430 is cyrillic small letter a" in problem.notes[0]


def test_a_name_in_capitals_is_another_one(project, monkeypatch):
    (problem,) = project("a.qos", a="import Lab\n", lab="")[1]
    assert (problem.code, problem.help) == ("E0106", "write `import lab`")
    # Some systems say that a file is there whatever its capitals.
    monkeypatch.setattr(files, "is_there", lambda path: path.suffix == ".qos")
    (problem,) = project("a.qos", a="import Lab\n", lab="")[1]
    assert (problem.code, problem.help) == ("E0106", "write `import lab`")


def test_a_file_is_never_told_to_import_itself(project):
    (problem,) = project("capture_again.qos", capture_again="import captured\n")[1]
    assert (problem.code, problem.label, problem.help) == ("E0106", "", "")


def test_a_folder_on_the_way_that_is_misspelt(project):
    (problem,) = project("a.qos", a="import std.devces.sitline\n")[1]
    assert problem.help == "write `import std.devices.sitline`"
    (problem,) = project("a.qos", a="import std\n")[1]
    assert problem.notes == ("`std` is a folder",)
