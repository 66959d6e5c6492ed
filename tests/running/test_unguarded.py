"""Of which commands a guard has to say that it does not reach them."""

import pytest

from envdoctor.running.unguarded import isolation


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("python -I train.py", "-I"),
        ("/srv/env/bin/python3.12 -u -S train.py", "-S"),
        ("python -uE -c pass", "-E"),
        ("python -W ignore -X dev -Im mod", "-I"),
        ("python --check-hash-based-pycs always -E x.py", "-E"),
        ("python -cE", ""),
        ("python -m mod -I", ""),
        ("python -WE -XI train.py", ""),
        ("python - -I", ""),
        ("python train.py -I", ""),
        ("python", ""),
        ("torchrun -I", ""),
    ],
)
def test_options_by_which_python_runs_no_start_up_hook(words, option):
    assert isolation(words.split()) == option
