"""The wrappers that pip and uv write, of all ages, pass; one that does anything more does not."""

import pytest

from envdoctor.installing.wrappers import body, fault

PREFIX = "/srv/an env"
DIRECT = f"#!{PREFIX}/bin/python\n"
UV = """\
# -*- coding: utf-8 -*-
import sys
from torch.run import main
if __name__ == "__main__":
    if sys.argv[0].endswith("-script.pyw"):
        sys.argv[0] = sys.argv[0][:-11]
    elif sys.argv[0].endswith(".exe"):
        sys.argv[0] = sys.argv[0][:-4]
    sys.exit(main())
"""
PIP = """\
import sys
from torch.run import main
if __name__ == '__main__':
    sys.argv[0] = sys.argv[0].removesuffix('.exe')
    sys.exit(main())
"""
OLD_PIP = r"""# -*- coding: utf-8 -*-
import re
import sys
from torch.run import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])
    sys.exit(main())
"""


@pytest.mark.parametrize("text", [UV, PIP, OLD_PIP], ids=["uv", "pip", "old pip"])
@pytest.mark.parametrize(
    "first",
    [
        DIRECT,
        f"#!{PREFIX}/bin/python3.12\n",
        f"#!/bin/sh\n'''exec' \"{PREFIX}/bin/python\" \"$0\" \"$@\"\n' '''\n",
        f"#!/bin/sh\n'''exec' '{PREFIX}/bin/python' \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_wrappers_of_installers_pass(text, first):
    assert fault(f"{first}{text}".encode(), PREFIX, "torch.run:main") == ""
    assert body(f"{first}{text}".encode(), PREFIX) == text.encode()


def test_attribute_of_an_object_is_called():
    text = PIP.replace("import main", "import App").replace("main()", "App.run()")
    assert fault(f"{DIRECT}{text}".encode(), PREFIX, "torch.run:App.run") == ""
    assert fault(f"{DIRECT}{text}".encode(), PREFIX, "torch.run:App.stop") == "does more than to call its entry point"


OTHERS = ("/usr/bin/env python", f"{PREFIX}/bin/python -i", f"{PREFIX}/bin/python2.7", f"{PREFIX}x/bin/python")


@pytest.mark.parametrize("first", ["", *(f"#!{other}\n" for other in OTHERS)])
def test_other_first_lines_do_not_start_this_python(first):
    assert fault(f"{first}{PIP}".encode(), PREFIX, "torch.run:main") == "does not start this environment's python"


MORE = "does more than to call its entry point"


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("import sys\n", "import sys, os\n", MORE),
        ("import sys\n", "import sys as re\n", MORE),
        ("sys.exit(main())", "print(1); sys.exit(main())", MORE),
        ("sys.exit(main())", "main.__globals__['x'](); sys.exit(main())", MORE),
        ("sys.exit(main())", "sys.exit(main(1)); sys.exit(main(x=1))", MORE),
        ("sys.argv[0] =", "sys.path =", MORE),
        ("sys.argv[0] =", "sys.argv[0] = main =", MORE),
        (".removesuffix('.exe')", ".removesuffix(open('x'))", MORE),
        (".removesuffix('.exe')", ".removesuffix([x for x in ()])", MORE),
        ("sys.exit(main())", "sys.exit(0)", "does not call torch.run:main"),
        ("sys.exit(main())", "'text'", MORE),
        ("torch.run", "torch", "does not import torch.run:main alone"),
        ("import main", "import evil as main", "does not import torch.run:main alone"),
        ("import main", "import main, other", "does not import torch.run:main alone"),
        ("import sys\n", "import sys\nfrom os import *\n", "does not import torch.run:main alone"),
        ("if __name__", "while __name__", MORE),
        ("if ", "if (", "is no script that can be read"),
    ],
)
def test_wrapper_that_was_altered_is_a_fault(old, new, how):
    assert old in PIP
    assert fault(f"{DIRECT}{PIP.replace(old, new)}".encode(), PREFIX, "torch.run:main") == how


@pytest.mark.parametrize("data", [b"\0", b"#!\xff", DIRECT.encode() + b"(" * 10_000])
def test_bytes_that_are_no_script_are_a_fault(data):
    assert fault(data, PREFIX, "torch.run:main")


def test_a_single_quote_in_the_path_is_written_as_a_shell_reads_it():
    first = "#!/bin/sh\n'''exec' '/srv/it'\"'\"'s mine/bin/python' \"$0\" \"$@\"\n' '''\n"
    assert body((first + UV).encode(), "/srv/it's mine") == UV.encode()
    assert body((first + UV).encode(), "/srv/its mine") is None
