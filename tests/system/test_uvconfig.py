"""Where uv is told to look for packages."""

from fakes import FakeHost

from envdoctor.system import uvconfig

TABLE = """\
find-links = ["wheels", "https://links.example/"]
extra-index-url = ["https://more.example/simple"]
[[index]]
name = "our-lab"
url = "https://lab.example/simple"
[[index]]
url = "https://default.example/simple"
default = true
"""


def everything(tmp_path, text="", name="uv.toml", **env):
    if text:
        (tmp_path / name).write_text(text)
    host = FakeHost(env=env, cwd=str(tmp_path), home=str(tmp_path / "home"), root=str(tmp_path / "root"))
    return [said for said in uvconfig.everything(str(tmp_path), host) if said.default or said.others or said.find_links]


def test_a_file_says_indexes_names_and_links(tmp_path):
    (said,) = everything(tmp_path, TABLE)
    assert said.source == str(tmp_path / "uv.toml")
    assert said.default == ("https://default.example/simple",)
    assert said.others == ("https://lab.example/simple", "https://more.example/simple")
    assert said.find_links == ("wheels", "https://links.example/")
    assert said.names["https://lab.example/simple"] == "our-lab"


def test_variables_come_before_the_project_and_that_before_the_user(tmp_path):
    user = tmp_path / "home/.config/uv"
    user.mkdir(parents=True)
    (user / "uv.toml").write_text('index-url = "https://user.example/"\n')
    text = '[tool.uv]\nindex-url = "https://project.example/"\n'
    found = everything(tmp_path, text, "pyproject.toml", UV_INDEX="lab=https://a.example/ https://b.example/")
    assert [said.source.replace(str(tmp_path), "") for said in found] == [
        *("UV_INDEX", "[tool.uv] of /pyproject.toml", "/home/.config/uv/uv.toml"),
    ]
    assert (found[0].others, found[0].names["https://a.example/"]) == (
        ("https://a.example/", "https://b.example/"),
        "lab",
    )


def test_without_configuration_variables_alone_count(tmp_path):
    found = everything(tmp_path, TABLE, UV_NO_CONFIG="1", UV_FIND_LINKS="a,https://b.example/")
    assert [(said.source, said.find_links) for said in found] == [("UV_FIND_LINKS", ("a", "https://b.example/"))]


def test_what_is_no_table_says_nothing(tmp_path):
    for text in (
        "index = 7\nfind-links = 'x'\n",
        "[index]\n",
        "= broken",
        "index = [7, { url = 8 }]\nextra-index-url = [9]\n",
    ):
        assert everything(tmp_path, text) == []
    assert everything(tmp_path, "tool = 7\n", "pyproject.toml") == []


def test_a_login_of_variables_goes_into_an_address_that_has_none():
    env = {"UV_INDEX_OUR_LAB_USERNAME": "me", "UV_INDEX_OUR_LAB_PASSWORD": "a/b@c"}
    assert uvconfig.with_login("https://lab.example/s", "our-lab", env) == "https://me:a%2Fb%40c@lab.example/s"
    for address, name in (("https://x:y@lab.example/s", "our-lab"), ("https://lab.example/s", ""), ("lab", "our-lab")):
        assert uvconfig.with_login(address, name, env) == address
    assert uvconfig.with_login("https://lab.example/s", "other", env) == "https://lab.example/s"
