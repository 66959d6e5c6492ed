"""What is sanitised: each rule changes what its probes find, and nothing of the nearest healthy neighbour."""

import pytest
from fakes import NOW
from values import (
    SITE,
    cache,
    caches,
    distribution,
    distributions,
    folder,
    interpreter,
    loader,
    loads,
    toolkit,
    toolkits,
    torch_build,
    variables,
)

from envdoctor.environ import Change, Left, applied
from envdoctor.facts.cache_access import Access
from envdoctor.facts.cache_cleaners import Cleaner
from envdoctor.facts.cache_places import Place
from envdoctor.facts.compile_caches import CompileCache
from envdoctor.facts.node import Mount, Node
from envdoctor.facts.search_path import SearchPath
from envdoctor.facts.startup import PythonPathEntry, Startup
from envdoctor.facts.toolkits import Named
from envdoctor.model import Unavailable
from envdoctor.policy import Mute, Policy
from envdoctor.running.sanitising import RULES, Scene, asked, sanitised

UNKNOWN = Unavailable("no answer within 10 s", failed=True)


def said(rule, env, policy=None, cwd="/srv", **facts):
    """Ask a rule; of what is usual it gets what it asks for."""
    usual = {"variables": variables(), "distributions": distributions(), "interpreter": interpreter()}
    known = {name: value for name, value in usual.items() if name in RULES[rule].facts}
    scene = Scene(env, cwd, {"node": Node()} | known | facts, policy or Policy(), NOW)
    return list(sanitised([rule], scene))


def after(rule, env, **facts):
    """Return the variables that a rule changes, and what they are then."""
    made = [each for each in said(rule, env, **facts) if isinstance(each, Change)]
    now = applied(env, made)
    return {each.variable: now.get(each.variable) for each in made}


class TestAsked:
    def test_rules_of_variables_that_are_not_set_are_not_asked(self):
        assert asked((), {}) == ["user-site", "cache-dir"]
        assert asked((), {"CUDA_PATH": "/c", "LD_LIBRARY_PATH": ""}) == ["user-site", "cuda-home", "cache-dir"]

    @pytest.mark.parametrize("name", RULES)
    def test_each_can_be_switched_off(self, name):
        env = {variable: "/x" for rule in RULES.values() for variable in rule.variables}
        assert asked((name,), env) == [each for each in RULES if each != name]
        assert asked(("all",), env) == []


class TestLibraryPath:
    TOOLKIT, OURS, LINK = "/usr/local/cuda-12.1/lib64", f"{SITE}/nvidia/nvjitlink/lib", "libnvJitLink.so.12"

    def after(self, value, *folders, **fields):
        found = after("library-path", {"LD_LIBRARY_PATH": value}, loader=loader(*folders, **fields))
        return found.get("LD_LIBRARY_PATH", "as it was")

    def hiding(self, *more):
        return folder(self.TOOLKIT, self.LINK, *more, bundled=self.OURS)

    def test_what_hides_a_bundled_library_is_taken_off_and_the_rest_stays_as_it_is_written(self):
        taken = [loads(f"{self.TOOLKIT}/{self.LINK}", "LD_LIBRARY_PATH")]
        value = f"/opt/a/;{self.TOOLKIT}/:lib"
        assert self.after(value, self.hiding(), folder("/opt/a"), resolutions=taken) == "/opt/a/:lib"
        assert self.after(self.TOOLKIT, self.hiding(), resolutions=taken) is None

    def test_what_torch_loads_nothing_from_stays(self):
        own = [loads(f"{self.OURS}/{self.LINK}")]
        assert self.after(self.TOOLKIT, self.hiding(), resolutions=own) == "as it was"
        assert self.after("/opt/a", folder("/opt/a"), resolutions=own) == "as it was"

    def test_what_holds_the_driver_as_well_stays_behind_the_targets_own(self):
        taken = [loads(f"{self.TOOLKIT}/{self.LINK}", "LD_LIBRARY_PATH")]
        both = (self.hiding(), folder(self.TOOLKIT, "libcuda.so.1"))
        assert self.after(self.TOOLKIT, *both, resolutions=taken) == f"{self.OURS}:{self.TOOLKIT}"

    def test_a_stub_of_the_driver_is_taken_off(self):
        stubs = "/usr/local/cuda/lib64/stubs"
        assert self.after(f"{stubs}:/a", folder(stubs, "libcuda.so", kind="stub"), folder("/a")) == "/a"

    def test_what_cannot_be_judged_is_said_and_stays(self):
        (left,) = said("library-path", {"LD_LIBRARY_PATH": "/a"}, loader=UNKNOWN)
        assert left == Left("library-path", "not judged: no answer within 10 s")

    def test_what_is_muted_is_the_users_wish(self):
        policy = Policy(mutes=(Mute("cuda/library-shadowed", "wanted"),))
        env = {"LD_LIBRARY_PATH": self.TOOLKIT}
        assert said("library-path", env, policy, loader=loader(self.hiding(), unknown="unknown")) == []


class TestPythonpath:
    def after(self, value, *entries):
        installed = distributions(distribution("torch"))
        found = after("pythonpath", {"PYTHONPATH": value}, startup=Startup(pythonpath=entries), distributions=installed)
        return found.get("PYTHONPATH", "as it was")

    @pytest.mark.parametrize(
        "leak",
        [
            {"environment": "/other", "distributions": 9},
            {"distributions": 2, "project": "/srv"},
            {"modules": ("torch",)},
        ],
    )
    def test_packages_before_the_targets_are_taken_off(self, leak):
        entry = PythonPathEntry("/srv/extra", exists=True, inside=False, **leak)
        assert self.after("/a:extra/:/b", entry) == "/a:/b"
        assert self.after("/srv/extra", entry) is None

    @pytest.mark.parametrize(
        "own", [{"modules": ("mine",)}, {"modules": ("torch",), "project": "/srv"}, {"exists": False}]
    )
    def test_sources_stay(self, own):
        entry = PythonPathEntry("/srv/src", **{"exists": True, "inside": False} | own)
        assert self.after("/srv/src", entry) == "as it was"


class TestUserSite:
    def after(self, *, read, packages=3):
        path = SearchPath((), "/home/me/.local/lib", user_site_enabled=read, user_site_packages=packages)
        return after("user-site", {}, search_path=path)

    def test_is_switched_off_where_it_is_read_and_holds_something(self):
        assert self.after(read=True) == {"PYTHONNOUSERSITE": "1"}
        assert self.after(read=False) == self.after(read=True, packages=0) == {}

    def test_is_said_where_it_cannot_be_judged(self):
        assert said("user-site", {}, search_path=UNKNOWN) == [Left("user-site", "not judged: no answer within 10 s")]


class TestCudaHome:
    OLD, NEW = toolkit("/usr/local/cuda-12.8", "12.8.93", "12.8"), toolkit()

    def facts(self, found, build=None):
        return {"toolkits": found, "torch_build": build or torch_build()}

    def after(self, env, found, build=None):
        return after("cuda-home", env, **self.facts(found, build))

    def test_another_major_than_torchs_gives_way_to_the_toolkit_that_fits(self):
        env = {"CUDA_HOME": "/usr/local/cuda-12.8", "CUDA_PATH": "/usr/local/cuda-13.0"}
        found = toolkits(self.OLD, self.NEW, CUDA_HOME=0, CUDA_PATH=1)
        assert self.after(env, found) == {"CUDA_HOME": "/usr/local/cuda-13.0"}

    def test_where_none_fits_it_stays_and_that_is_said(self):
        found = toolkits(self.OLD, CUDA_HOME=0)
        (left,) = said("cuda-home", {"CUDA_HOME": "/usr/local/cuda-12.8"}, **self.facts(found))
        assert isinstance(left, Left)
        assert left.why.endswith("no toolkit of that CUDA is here")

    def test_cuda_path_follows_cuda_home(self):
        found = toolkits(self.NEW, self.OLD, CUDA_HOME=0, CUDA_PATH=1, PATH=1)
        env = {"CUDA_HOME": "/usr/local/cuda-13.0", "CUDA_PATH": "/usr/local/cuda-12.8"}
        assert self.after(env, found) == {"CUDA_PATH": "/usr/local/cuda-13.0"}

    @pytest.mark.parametrize("exists", [True, False])
    def test_what_leads_to_no_nvcc_is_unset(self, exists):
        gone = {way: Named(way, "/opt/gone", "/opt/gone", exists=exists) for way in ("CUDA_HOME", "CUDA_PATH")}
        env = dict.fromkeys(gone, "/opt/gone")
        assert self.after(env, toolkits(self.NEW, PATH=0, **gone)) == {"CUDA_HOME": None, "CUDA_PATH": None}

    def test_behind_a_dead_one_the_next_is_judged(self):
        gone = Named("CUDA_HOME", "/opt/gone", "/opt/gone", exists=False)
        env = {"CUDA_HOME": "/opt/gone", "CUDA_PATH": "/usr/local/cuda-12.8"}
        found = toolkits(self.OLD, self.NEW, CUDA_HOME=gone, CUDA_PATH=0)
        assert self.after(env, found) == {"CUDA_HOME": None, "CUDA_PATH": "/usr/local/cuda-13.0"}

    @pytest.mark.parametrize("ways", [{"CUDA_HOME": 0}, {"CUDA_HOME": 0, "CUDA_PATH": 0, "PATH": 1}])
    def test_what_fits_stays(self, ways):
        env = {way: "/usr/local/cuda-13.0" for way in ways if way != "PATH"}
        assert said("cuda-home", env, **self.facts(toolkits(self.NEW, self.OLD, **ways))) == []

    def test_without_torch_only_the_conflict_is_judged(self):
        found = toolkits(self.OLD, CUDA_HOME=0)
        (left,) = said("cuda-home", {"CUDA_HOME": "/x"}, **self.facts(found, Unavailable("torch is not installed")))
        assert left.why == "not judged against torch: torch is not installed"


class TestCacheDir:
    CLEANED = Cleaner("/tmp", 864000.0, "/usr/lib/tmpfiles.d/tmp.conf", "q /tmp 1777 root root 10d")

    def said(self, now, other=None):
        other = other or cache(path="/home/me/own")
        return said("cache-dir", {}, caches=caches(now), other_caches=caches(other))

    @pytest.mark.parametrize(
        "fault",
        [
            {"mount": Mount("/tmp", "ext4", ("rw", "noexec"))},
            {"access": {"open_at": "/cache", "open_mode": 0o777}},
            {"access": {"owner": 4242}},
            {"access": {"writable": False, "refuses": "/cache"}},
            {"cleaner": CLEANED},
            {"mount": Mount("/", "overlay")},
        ],
        ids=["noexec", "open", "foreign", "read-only", "cleaned", "passing"],
    )
    def test_one_that_lies_where_none_should_moves(self, fault):
        (change,) = self.said(cache(exists=True, files=0, **fault))
        assert (change.variable, change.after) == ("TORCHINDUCTOR_CACHE_DIR", "/home/me/own")
        assert "cold this time" in change.why

    def test_flashinfers_variable_names_what_its_cache_lies_below(self):
        def there(base):
            return Place("flashinfer", f"{base}/.cache/flashinfer", "default", "FLASHINFER_WORKSPACE_BASE")

        shared = CompileCache(there("/home/me"), exists=True, access=Access(open_at="/home/me", writable=True))
        own = CompileCache(there("/home/me/own/flashinfer"), access=Access(writable=True))
        (change,) = self.said(shared, own)
        assert (change.variable, change.after) == ("FLASHINFER_WORKSPACE_BASE", "/home/me/own/flashinfer")

    def test_one_that_lies_well_stays(self):
        assert self.said(cache(exists=True, files=9, mount=Mount("/", "ext4", ("rw",)))) == []

    def test_a_warm_one_stays_where_it_is_merely_passing_until_the_other_is_warm_too(self):
        warm = cache(exists=True, files=9, cleaner=self.CLEANED)
        (left,) = self.said(warm)
        assert (type(left), left.minor) == (Left, True)
        (change,) = self.said(warm, cache(path="/home/me/own", exists=True, files=3))
        assert "what was compiled there is found" in change.why

    @pytest.mark.parametrize(
        "other",
        [
            {"mount": Mount("/home", "nfs4")},
            {"mount": Mount("/home", "ext4", ("noexec",))},
            {"mount": Mount("/", "tmpfs")},
            {"access": {"owner": None, "mode": None, "open_at": "/home"}},
        ],
        ids=["network", "noexec", "passing", "open"],
    )
    def test_a_place_that_is_no_better_is_none(self, other):
        bad = cache(exists=True, mount=Mount("/tmp", "ext4", ("noexec",)))
        (left,) = self.said(bad, cache(path="/home/me/own", exists=False, **other))
        assert "the place for it is no better: " in left.why
        assert not left.minor

    def test_what_cannot_be_judged_is_said(self):
        assert said("cache-dir", {}, caches=UNKNOWN, other_caches=UNKNOWN) == [
            Left("cache-dir", "not judged: no answer within 10 s")
        ]
