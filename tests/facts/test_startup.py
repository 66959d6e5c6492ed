"""What runs or changes the path before the job does is read from real files, with nothing executed."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.facts import search_path, startup
from envdoctor.facts.interpreter import Interpreter
from envdoctor.facts.interpreter import collect as collect_interpreter
from envdoctor.facts.startup import StartupLine, environment_of, parse_pth, parse_start, read_startup
from envdoctor.model import Severity, Target
from envdoctor.probes.environment import system_site_packages, user_site
from envdoctor.system.host import LocalHost


def interpreter(prefix, version="3.12.3", **changes):
    given = {"chain": (), "answered": True, "problem": None, "recorded_version": version, "markers": {}, **changes}
    return Interpreter(f"{prefix}/bin/python", version=version, **given)


@pytest.fixture
def env(tmp_path):
    (tmp_path / "env/lib/python3.12/site-packages").mkdir(parents=True)
    return tmp_path / "env"


@pytest.fixture
def site(env):
    return env / "lib/python3.12/site-packages"


def collect(env, variables=None, **changes):
    host = LocalHost(env={"HOME": str(env.parent), **(variables or {})}, cwd=str(env.parent))
    target = Target(str(env), f"{env}/bin/python")
    speaker = interpreter(env, **changes)
    return startup.collect(target, host, speaker, search_path.collect(target, host, speaker))


def kinds(found, name):
    return {line.text: line.kind for file in found.files if file.path.endswith(name) for line in file.lines}


def test_lines_are_told_apart_as_site_does(env, site):
    (site / "inner").mkdir()
    (site / "a.pth").write_bytes(
        b"\xef\xbb\xbfimport os\n# import x\nimport\tos\n import os\nimportant\ninner\n\n   \n./gone\r\n"
    )
    assert kinds(collect(env), "a.pth") == {
        "import os": "import",
        "# import x": "comment",
        "import\tos": "import",
        " import os": "dead",
        "important": "dead",
        "inner": "path",
        "./gone": "dead",
    }


def test_a_byte_order_mark_hides_no_import(env, site):
    (site / "a.pth").write_bytes(b"\xef\xbb\xbfimport os\n")
    assert kinds(collect(env), "a.pth") == {"import os": "import"}


@pytest.mark.parametrize(
    ("version", "count"),
    [("3.11.7", 1), ("3.11.9", 0), ("3.12.1", 1), ("3.12.3", 0), ("3.12.0rc1", 1), ("3.13.0", 0), ("3.10.13", 1)],
)
def test_hidden_files_are_read_by_the_releases_whose_site_does(env, version, count):
    site = env / f"lib/python{version[:4]}/site-packages"
    site.mkdir(parents=True, exist_ok=True)
    (site / ".a.pth").write_text("import os\n")
    assert len(collect(env, version=version).files) == count


def test_a_path_that_leaves_the_environment_through_a_link_is_outside(env, site, tmp_path):
    other = tmp_path / "other/lib/python3.12/site-packages"
    other.mkdir(parents=True)
    (site / "link").symlink_to(other)
    (site / "inner").mkdir()
    (site / "a.pth").write_text("link\ninner\n")
    linked, inner = collect(env).files[0].lines
    assert (linked.inside, linked.environment) == (False, str(tmp_path / "other"))
    assert (inner.inside, inner.path) == (True, str(site / "inner"))


def test_a_linked_prefix_changes_nothing(env, site, tmp_path):
    (site / "inner").mkdir()
    (site / "a.pth").write_text(f"{site}/inner\n")
    (tmp_path / "link").symlink_to(env)
    (line,) = collect(tmp_path / "link").files[0].lines
    assert line.inside


@pytest.mark.parametrize(("system_site", "origins"), [(True, ["system-site"]), (False, [])])
def test_the_systems_files_count_where_they_are_read_and_may_point_into_the_system(env, tmp_path, system_site, origins):
    (tmp_path / "base/lib/python3.12/site-packages").mkdir(parents=True)
    (tmp_path / "base/lib/python3.12/site-packages/a.pth").write_text(f"{tmp_path}/base/lib\n")
    found = collect(env, system_site=system_site, base_prefix=str(tmp_path / "base")).files
    assert [file.origin for file in found] == origins
    assert all(line.inside for file in found for line in file.lines)


def test_pythonpath_naming_site_packages_does_not_hide_its_files(env, site):
    (site / "a.pth").write_text("import os\n")
    assert len(collect(env, {"PYTHONPATH": str(site)}).files) == 1


@pytest.mark.parametrize(("version", "expected"), [("3.14.2", "import"), ("3.15.0", "ignored")])
def test_a_start_file_silences_the_imports_beside_it_from_315(env, tmp_path, version, expected):
    site = env / f"lib/python{version[:4]}/site-packages"
    site.mkdir(parents=True)
    (site / "a.pth").write_text("import a\n")
    (site / "a.start").write_text("# start\n\na.mod:go\n")
    (site / ".hidden.start").write_text("hidden.mod:go\n")
    found = collect(env, version=version)
    assert kinds(found, "a.pth") == {"import a": expected}
    begun = {"# start": "comment", "a.mod:go": "entry-point"} if expected == "ignored" else {}
    assert kinds(found, ".start") == begun


def test_a_fifo_is_named_and_never_opened(env, site):
    os.mkfifo(site / "a.pth")
    assert collect(env).files[0].problem == "is no regular file"


def test_an_unreadable_and_an_oversized_file_say_so(tmp_path):
    assert "cannot be read" in read_startup(str(tmp_path / "gone.pth"))[1]
    (tmp_path / "big.pth").write_text("x\n" * (1 << 20))
    text, problem = read_startup(str(tmp_path / "big.pth"))
    assert len(text) == 1 << 20
    assert "larger than" in problem


def test_sitecustomize_is_found_in_the_order_of_the_path(env, site, tmp_path):
    (tmp_path / "extra/sitecustomize").mkdir(parents=True)
    (tmp_path / "extra/sitecustomize/__init__.py").write_text("")
    (site / "sitecustomize.py").write_text("print()")
    found = collect(env, {"PYTHONPATH": str(tmp_path / "extra")}).customize
    assert [(item.origin, item.imported, item.size) for item in found] == [
        ("PYTHONPATH", True, 0),
        ("site-packages", False, 7),
    ]


def test_debians_sitecustomize_counts_as_the_stdlib(env, tmp_path):
    (tmp_path / "lib/python3.12").mkdir(parents=True)
    (tmp_path / "lib/python3.12/sitecustomize.py").write_text("")
    (found,) = collect(env, stdlib=str(tmp_path / "lib/python3.12")).customize
    assert found.origin == "stdlib"


@pytest.mark.parametrize(
    ("changes", "variables", "count"),
    [
        ({}, {}, 0),
        ({"system_site": True}, {}, 1),
        ({"kind": "conda"}, {}, 1),
        ({"kind": "conda"}, {"PYTHONNOUSERSITE": "1"}, 0),
    ],
)
def test_usercustomize_counts_only_where_the_user_site_is_on(env, site, changes, variables, count):
    (site / "usercustomize.py").write_text("")
    assert len(collect(env, variables, **changes).customize) == count


def test_pythonpath_entries_are_described(env, site, tmp_path):
    other = tmp_path / "other/lib/python3.12/site-packages"
    (other / "torch-2.0.dist-info").mkdir(parents=True)
    (tmp_path / "project/src/mine").mkdir(parents=True)
    (tmp_path / "project/src/mine/__init__.py").write_text("")
    (tmp_path / "project/pyproject.toml").write_text("")
    value = os.pathsep.join([str(other), str(tmp_path / "project/src"), str(tmp_path / "gone"), str(site)])
    foreign, sources, gone, own = collect(env, {"PYTHONPATH": value}).pythonpath
    assert (foreign.environment, foreign.distributions, foreign.inside) == (str(tmp_path / "other"), 1, False)
    assert (sources.project, sources.modules) == (str(tmp_path / "project"), ("mine",))
    assert not gone.exists
    assert own.inside
    assert own.environment is None


def test_an_empty_pythonpath_entry_is_the_current_folder(env, tmp_path):
    (entry,) = collect(env, {"PYTHONPATH": ":"}).pythonpath
    assert entry.path == str(tmp_path)
    assert collect(env, {"PYTHONPATH": ""}).pythonpath == ()


class TestUserSite:
    """Case C31: a package in ~/.local beats the environment's own, except in a plain venv."""

    @pytest.fixture
    def home(self, tmp_path):
        (tmp_path / ".local/lib/python3.12/site-packages/torch-2.0.dist-info").mkdir(parents=True)
        return tmp_path

    @pytest.mark.parametrize(
        ("changes", "variables", "severity"),
        [
            ({"kind": "conda"}, {}, Severity.ERROR),
            ({"system_site": True}, {}, Severity.ERROR),
            ({}, {}, Severity.NOTE),
            ({"kind": "conda"}, {"PYTHONNOUSERSITE": "1"}, Severity.NOTE),
        ],
    )
    def test_severity_follows_whether_it_is_read(self, env, home, changes, variables, severity):
        host = LocalHost(env={"HOME": str(home), **variables}, cwd=str(home))
        speaker = interpreter(env, **changes)
        found = search_path.collect(Target(str(env), f"{env}/bin/python"), host, speaker)
        (finding,) = user_site.check(speaker, found)
        assert finding.severity == severity


@pytest.mark.parametrize(("value", "count"), [("true", 1), ("True", 1), ("false", 0)])
def test_system_site_packages_are_seen_without_a_python_that_starts(env, value, count):
    """Case C29, the environment's part."""
    (env / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = {value}\nversion = 3.12.3\n")
    target = Target(str(env), f"{env}/bin/python")
    speaker = collect_interpreter(target, LocalHost(env={}, cwd="/"))
    assert not speaker.answered
    assert len(list(system_site_packages.check(speaker, target))) == count


def test_site_directories_of_another_minor_version_are_not_read(env, site):
    (env / "lib/python3.11/site-packages/torch-2.0.dist-info").mkdir(parents=True)
    site.chmod(0o555)
    old, own = collect(env).sites
    assert (old.python, old.read, old.distributions, old.writable) == ("python3.11", False, 1, True)
    assert (own.python, own.read, own.distributions, own.writable) == ("python3.12", True, 0, False)


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("/a/env/lib/python3.12/site-packages", "/a/env"),
        ("/a/env/lib64/python3.13t/site-packages/pkg", "/a/env"),
        ("/usr/lib/python3/dist-packages", "/usr"),
        ("/lib/python3/dist-packages", "/"),
        ("/a/env/lib/python3.12", None),
        ("/a/site-packages", None),
    ],
)
def test_an_environment_is_read_off_the_path(path, prefix):
    assert environment_of(path) == prefix


def test_an_import_below_many_other_lines_is_still_seen():
    lines = parse_pth("gone\n# x\n" * 5000 + "import late\n", "/no/such/site", ("/no",))
    assert lines[-1] == StartupLine(10_001, "import", "import late")
    assert len(lines) == 1001


@pytest.mark.parametrize("before", ["import a", "gone", "# a", ""])
@given(st.integers(200, 310))
def test_a_cut_shows_no_part_of_a_secret(before, width):
    line = f"{before.ljust(width, 'x')} https://me:S3CRETs3cretS3CRET@host.example/"
    (pth,), (start,) = parse_pth(line, "/no/such/site", ("/no",)), parse_start(line)
    assert "S3CRET" not in pth.text + start.text


@given(st.text())
def test_any_text_is_a_pth_file(text):
    for line in parse_pth(text, "/no/such/site", ("/no",)) + parse_start(text):
        assert line.number >= 1
        assert len(line.text) <= 300
