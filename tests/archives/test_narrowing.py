"""From a lock, of any format, to one file a package."""

import json
from dataclasses import replace

import pytest
from locked import OTHER, ROOT, SHA, files, package, read, uv

from envdoctor.archives.narrowing import narrow
from envdoctor.errors import LockError, RefusedLockError
from envdoctor.locks.environments import stated
from envdoctor.policy import Policy

HERE = stated("3.12.3", "manylinux_2_28_x86_64")
POOL = "https://files.example/packages"
ANY, FITTING, OLDER, FAR = (
    f"{POOL}/numpy-2.4.6-{tag}.whl"
    for tag in (
        "py3-none-any",
        "cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_17_x86_64",
        "cp312-cp312-manylinux_2_39_x86_64",
    )
)
SOURCE = f"{POOL}/numpy-2.4.6.tar.gz"
BUILDS = Policy(sdists=("numpy",))


def narrowed(text, path="/project/requirements.txt", policy=BUILDS, environment=HERE, **choice):
    lock = read(text, path)
    return narrow(lock, environment.markers, environment.ordered_tags(), policy, **choice)


def pins(*arguments, **options):
    return {pin.name: pin for pin in narrowed(*arguments, **options).pins}


def refused(*arguments, **options):
    """Return what is wrong, a line each."""
    with pytest.raises(RefusedLockError) as raised:
        narrowed(*arguments, **options)
    said = raised.value.details or (str(raised.value),)
    assert str(raised.value).startswith(said[0])
    return list(said)


def pylock(*urls, hashes=f'sha256 = "{SHA[7:]}"', more=""):
    """Return a pylock with one package of these files."""
    wheels = ", ".join(f'{{ url = "{url}", size = 7, hashes = {{ {hashes} }} }}' for url in urls if url != SOURCE)
    sdist = f'sdist = {{ url = "{SOURCE}", hashes = {{ {hashes} }} }}\n' if SOURCE in urls else ""
    head = 'lock-version = "1.0"\ncreated-by = "test"\n'
    return f'{head}[[packages]]\nname = "numpy"\nversion = "2.4.6"\n{more}{sdist}wheels = [{wheels}]\n'


class TestDigestsAlone:
    def test_all_strong_ones_are_kept_and_the_file_is_not_known(self):
        weak = f"--hash=md5:{'3' * 32} --hash=sha512:{'A' * 128}"
        (pin,) = narrowed(f"torch==2.11.0+cu128 --hash={SHA} --hash={OTHER} {weak}\n").pins
        assert (pin.name, pin.version, pin.line) == ("torch", "2.11.0+cu128", 1)
        assert pin.hashes == (SHA, OTHER, "sha512:" + "a" * 128)
        assert (pin.filename, pin.url, pin.size, pin.build) == ("", "", None, "never")

    def test_a_package_that_may_be_built_may_come_as_source(self):
        assert pins(f"numpy==2.4.6 --hash={SHA}\n")["numpy"].build == "if need be"

    def test_pins_of_other_targets_are_left_out_and_setuptools_is_a_pin_like_any(self):
        text = f"a==1 --hash={SHA}\nb==1 ; sys_platform == 'win32' --hash={SHA}\nsetuptools==81.0.0 --hash={OTHER}\n"
        assert list(pins(text)) == ["a", "setuptools"]

    def test_the_digests_of_a_pin_that_stands_twice_are_one_list(self):
        assert pins(f"six==1.17.0 --hash={SHA}\nsix==1.17 --hash={OTHER}\n")["six"].hashes == (SHA, OTHER)

    def test_arbitrary_equality_stays_what_it_is(self):
        assert pins(f"six===1.17.0 --hash={SHA}\n")["six"].operator == "==="

    def test_pipfile(self):
        entries = {"default": ("six", "1.17.0", SHA), "develop": ("idna", "3.10", OTHER)}
        found = {
            group: {name: {"version": f"=={version}", "hashes": [digest]}}
            for group, (name, version, digest) in entries.items()
        }
        text = json.dumps({"_meta": {"pipfile-spec": 6}, **found})
        assert list(pins(text, "/project/Pipfile.lock")) == ["six"]
        assert list(pins(text, "/project/Pipfile.lock", groups=("develop",))) == ["idna", "six"]


class TestRecordedFiles:
    def test_the_best_wheel_is_taken_with_its_address_and_size(self):
        (pin,) = narrowed(pylock(ANY, FAR, OLDER, FITTING, SOURCE), "/project/pylock.toml").pins
        assert (pin.url, pin.size, pin.hashes, pin.build) == (FITTING, 7, (SHA,), "never")
        assert pin.filename == FITTING.rpartition("/")[2]

    def test_the_next_best_is_taken_where_that_does_not_fit(self):
        environment = stated("3.12.3", "manylinux_2_17_x86_64")
        (pin,) = narrowed(pylock(ANY, FAR, OLDER, FITTING), "/project/pylock.toml", environment=environment).pins
        assert pin.url == OLDER

    def test_source_is_taken_where_it_is_allowed_and_nothing_fits(self):
        (pin,) = narrowed(pylock(FAR, SOURCE), "/project/pylock.toml").pins
        assert (pin.url, pin.build) == (SOURCE, "always")

    @pytest.mark.parametrize(
        ("urls", "how"), [((FAR, SOURCE), "has no wheel for this target, only"), ((SOURCE,), "comes as")]
    )
    def test_source_is_refused_where_it_is_not(self, urls, how):
        (said,) = refused(pylock(*urls), "/project/pylock.toml", policy=Policy(sdists=("torch",)))
        assert f'numpy 2.4.6 {how} source; allow that it is built in the configuration, sdists = ["numpy"]' in said

    def test_no_wheel_for_the_target_is_refused(self):
        (said,) = refused(pylock(FAR), "/project/pylock.toml")
        assert said == "/project/pylock.toml:4: numpy 2.4.6 has neither a wheel for this target nor a source archive"

    def test_sha256_counts_before_others_and_others_where_there_is_no_sha256(self):
        both = f'sha512 = "{"5" * 128}", sha256 = "{SHA[7:]}"'
        assert pins(pylock(ANY, hashes=both), "/project/pylock.toml")["numpy"].hashes == (SHA,)
        alone = pins(pylock(ANY, hashes=f'sha512 = "{"5" * 128}"'), "/project/pylock.toml")
        assert alone["numpy"].hashes == ("sha512:" + "5" * 128,)

    def test_only_the_file_that_is_taken_needs_a_digest(self):
        wheels = f'[{{ url = "{FAR}" }}, {{ url = "{FITTING}", hash = "{SHA}" }}]'
        root = ROOT + 'dependencies = [{ name = "numpy" }]\n'
        text = uv(root, package("numpy", version='"2.4.6"', wheels=wheels))
        assert pins(text, "/project/uv.lock")["numpy"].url == FITTING

    def test_poetry_and_pdm_record_names_without_addresses(self):
        name = FITTING.rpartition("/")[2]
        files = f'files = [{{ file = "{name}", hash = "{SHA}" }}]\n'
        entry = '[[package]]\nname = "numpy"\nversion = "2.4.6"\n'
        poetry = f'{entry}groups = ["main"]\n{files}[metadata]\nlock-version = "2.1"\npython-versions = ">=3.11"\n'
        metadata = '[metadata]\nlock_version = "4.5.0"\ngroups = ["default"]\nstrategy = ["inherit_metadata"]\n'
        pdm = f'{metadata}{entry}groups = ["default"]\n{files}'
        for text, path in ((poetry, "/project/poetry.lock"), (pdm, "/project/pdm.lock")):
            (pin,) = narrowed(text, path).pins
            assert (pin.filename, pin.url, pin.hashes) == (name, "", (SHA,))

    def test_uv_s_directory_index_is_a_path_from_the_lock(self):
        wheels = f'[{{ path = "{FITTING.rpartition("/")[2]}", hash = "{SHA}" }}]'
        root = ROOT + 'dependencies = [{ name = "numpy" }]\n'
        pin = pins(uv(root, package("numpy", "../wheels", version='"2.4.6"', wheels=wheels)), "/project/uv.lock")[
            "numpy"
        ]
        assert pin.url == f"../wheels/{pin.filename}"

    def test_groups_and_extras_are_the_lock_s_own(self):
        root = ROOT + '[package.dev-dependencies]\ntest = [{ name = "numpy" }]\n'
        text = uv(root, package("numpy", version='"2.4.6"', wheels=files(ANY)))
        assert pins(text, "/project/uv.lock") == {}
        assert list(pins(text, "/project/uv.lock", groups=("test",))) == ["numpy"]
        with pytest.raises(LockError, match="the lock has no group 'tset'; it has: test"):
            narrowed(text, "/project/uv.lock", groups=("tset",))


class TestAddresses:
    def test_a_wheel_at_an_address_is_that_file(self):
        (pin,) = narrowed(f"flash-attn @ https://h.example/flash_attn-2.8.3-py3-none-any.whl --hash={SHA}\n").pins
        assert (pin.name, pin.version, pin.filename) == ("flash-attn", "2.8.3", "flash_attn-2.8.3-py3-none-any.whl")
        assert (pin.url, pin.hashes) == ("https://h.example/flash_attn-2.8.3-py3-none-any.whl", (SHA,))

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            (f"a @ {POOL}/a-1-cp312-cp312-win_amd64.whl --hash={SHA}", "a 1 is a wheel for another target: a-1-cp312"),
            (f"a @ {POOL}/a-1-py3-none-any.whl", "a 1 has no digest"),
            (f"a @ {POOL}/a-1.tar.gz --hash={SHA}", "a 1 comes as source; allow"),
            (f"a @ git+https://h.example/a@{'0' * 40}", "a is a commit of a repository, which has no digest"),
            (f"-e git+https://h.example/a@{'0' * 40}#egg=a", "a is a commit of a repository"),
            ("a @ file:///home/me/a", "a is whatever lies in 'file:///home/me/a'"),
        ],
    )
    def test_what_cannot_be_had_by_digest_is_refused(self, line, said):
        (found,) = refused(f"{line}\n")
        assert found.startswith(f"/project/requirements.txt:1: {said}")


class TestProblems:
    def test_all_are_named_at_once_in_the_order_of_the_lock(self):
        text = f"a==1\nb==1 --hash=md5:{'3' * 32}\nc>=1\nd==1 --hash={SHA}\nd==2 --hash={OTHER}\n"
        assert [said.partition(":")[2] for said in refused(text)] == [
            "1: a 1 has no digest, so that nobody can tell whether it is what was locked",
            "2: b 1 has digests by md5 alone; sha256, sha384 or sha512 is needed",
            "3: 'c>=1' is not pinned: only NAME==VERSION names one release",
            "4: d is pinned more than once for this target: 1, 2",
        ]
        with pytest.raises(RefusedLockError, match=r"^/project/requirements.txt:1: a 1 .* \(and 3 more\)$") as raised:
            narrowed(text)
        assert raised.value.status == 1

    def test_a_lock_for_another_python_is_refused(self):
        text = pylock(ANY).replace("created-by", 'requires-python = ">=3.13"\ncreated-by')
        (said,) = refused(text, "/project/pylock.toml")
        assert said == "/project/pylock.toml: is for Python >=3.13, and the target has 3.12.3"
        (said,) = refused(pylock(ANY, more='requires-python = "<3.12"\n'), "/project/pylock.toml")
        assert said.endswith("numpy 2.4.6 is for Python <3.12, and the target has 3.12.3")

    def test_a_marker_that_hangs_on_the_third_number_needs_it(self):
        text = f"a==1 --hash={SHA}\nb==1 ; python_full_version >= '3.12.4' --hash={SHA}\n"
        (said,) = refused(text, environment=stated("3.12", "manylinux_2_28_x86_64"))
        assert "gives releases of Python 3.12 different packages; name one, such as 3.12.3" in said
        assert list(pins(text)) == ["a"]
        assert list(pins(text, environment=stated("3.12.4", "manylinux_2_28_x86_64"))) == ["a", "b"]

    @pytest.mark.parametrize("version", ["1 --index-url http://h.example", "1\\n--pre", "one", ""])
    def test_a_version_that_is_none_never_gets_to_pip(self, version):
        root = ROOT + 'dependencies = [{ name = "numpy" }]\n'
        text = uv(root, package("numpy", version=f'"{version}"', wheels=files(ANY)))
        (said,) = refused(text, "/project/uv.lock")
        assert said.endswith("has a version that is none")

    def test_an_address_takes_no_variables_of_the_environment(self):
        url = "https://h.example/${HOME}/numpy-2.4.6-py3-none-any.whl"
        assert pins(pylock(url), "/project/pylock.toml")["numpy"].url == url.replace("$", "%24")
        (pin,) = narrowed(f"numpy @ {url} --hash={SHA}\n").pins
        assert pin.url == url

    def test_no_secret_is_in_a_message(self):
        found = refused("a @ https://me:S3CRETs3cret@h.example/a-1-py3-none-any.whl\n")
        assert "S3CRETs3cret" not in str(found)


class TestProjects:
    def test_the_lock_s_own_are_not_pins(self):
        asked = 'dependencies = [{ name = "numpy" }, { name = "lib" }]\n'
        root = ROOT.replace("virtual", "editable") + asked
        member = '\n[[package]]\nname = "lib"\nversion = "0"\nsource = { directory = "packages/lib" }\n'
        found = narrowed(uv(root, member, package("numpy", version='"2.4.6"', wheels=files(ANY))), "/project/uv.lock")
        assert [pin.name for pin in found.pins] == ["numpy"]
        assert [(project.name, project.url) for project in found.projects] == [
            ("trainer", "."),
            ("lib", "packages/lib"),
        ]

    def test_one_elsewhere_is_refused(self):
        (said,) = refused(uv(ROOT.replace("virtual", "editable").replace('"."', '"../other"')), "/project/uv.lock")
        assert "trainer is whatever lies in '../other'" in said


def test_what_is_found_says_whom_it_is_for():
    found = narrowed(f"six==1.17.0 --hash={SHA}\n")
    assert (found.python, found.tags[0]) == ("3.12.3", "cp312-cp312-linux_x86_64")
    lock = replace(read(f"six==1.17.0 --hash={SHA}\n"), requires_python="==3.12.*")
    assert narrow(lock, HERE.markers, HERE.ordered_tags(), Policy()).pins[0].name == "six"
