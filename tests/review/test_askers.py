"""Who wants a package, and whether the project itself does."""

from envdoctor.review.askers import askers

UV = """\
[[package]]
name = "trainer"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch", version = "2.11.0", source = {{ registry = "https://index.example/simple" }} }}]
[package.optional-dependencies]
fast = [{{ name = "ninja" }}]
[package.dev-dependencies]
dev = [{{ name = "pytest" }}]
{}"""
PIN = """\
[[package]]
name = "{}"
version = "{}"
source = {{ registry = "https://index.example/{}" }}
dependencies = [{}]
"""


def said(lock):
    says = askers(lock)
    return {(pin.name, pin.version): (says.direct(pin), says.of(pin)) for pin in lock.packages}


def test_comments_say_who_asks(read):
    lock = read(
        "a==1 # via -r train.in\n"
        "b==1 # via trainer (pyproject.toml)\n"
        "c==1 # via a, -c constraints.txt\n"
        "d==1 # via the-project\n"
        "e==1 # via -c constraints.txt\n"
        "f==1 # via a, -r train.in\n"
    )
    assert said(lock) == {
        ("a", "1"): (True, ("-r train.in",)),
        ("b", "1"): (True, ("trainer (pyproject.toml)",)),
        ("c", "1"): (False, ("a",)),
        ("d", "1"): (True, ("the-project",)),
        ("e", "1"): (True, ()),
        ("f", "1"): (True, ("a", "-r train.in")),
    }


def test_a_lock_without_comments_or_graph_says_nothing(read):
    assert said(read("a==1\nb==2\n")) == {("a", "1"): (None, ()), ("b", "2"): (None, ())}


def test_edges_say_who_asks(uv_lock):
    entries = (
        PIN.format("torch", "2.11.0", "simple", '{ name = "numpy", extra = ["x"] }')
        + PIN.format("torch", "2.11.0+cpu", "simple", "")
        + PIN.format("torch", "2.11.0", "cpu", "")
        + PIN.format("numpy", "2.0", "simple", "")
        + PIN.format("ninja", "1.0", "simple", "")
        + PIN.format("pytest", "9.0", "simple", '{ name = "numpy" }')
    )
    lock = uv_lock(UV.format(entries))
    asked = [(pin.version, pin.url.rpartition("/")[2], askers(lock).of(pin)) for pin in lock.packages[1:4]]
    assert asked == [("2.11.0", "simple", ("trainer",)), ("2.11.0+cpu", "simple", ()), ("2.11.0", "cpu", ())]
    others = {key: value for key, value in said(lock).items() if key[0] != "torch"}
    assert others == {
        ("trainer", None): (True, ()),
        ("numpy", "2.0"): (False, ("torch", "pytest")),
        ("ninja", "1.0"): (True, ("trainer[fast]",)),
        ("pytest", "9.0"): (True, ("trainer (group dev)",)),
    }


def test_a_pylock_has_no_roots_so_what_nobody_wants_is_direct(read):
    lock = read(
        'lock-version = "1.0"\ncreated-by = "x"\n'
        '[[packages]]\nname = "a"\nversion = "1"\ndirectory.path = "a"\ndependencies = [{ name = "c" }]\n'
        '[[packages]]\nname = "b"\nversion = "1"\narchive = { path = "b-1.zip", hashes = { sha256 = "x" } }\n'
        '[[packages]]\nname = "c"\nversion = "1"\narchive = { path = "c-1.zip", hashes = { sha256 = "x" } }\n'
        'dependencies = [{ name = "d" }]\n'
        '[[packages]]\nname = "d"\nversion = "1"\narchive = { path = "d-1.zip", hashes = { sha256 = "x" } }\n',
        "pylock.toml",
    )
    assert said(lock) == {
        ("a", "1"): (True, ()),
        ("b", "1"): (True, ()),
        ("c", "1"): (True, ("a",)),
        ("d", "1"): (False, ("c",)),
    }


def test_workspace_asks_without_a_name(uv_lock):
    entries = '[manifest]\nrequirements = [{ name = "six" }]\n' + PIN.format("six", "1", "simple", "")
    lock = uv_lock(entries)
    assert said(lock)["six", "1"] == (True, ("the workspace",))
