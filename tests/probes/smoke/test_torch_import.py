"""The import, which is of no device."""

from values import attempt, ended, failure, tried

from envdoctor.model import Severity
from envdoctor.probes.smoke.torch_import import check

MISSING = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"


def test_an_import_that_fails_is_an_error_of_torch():
    (found,) = tried(check, attempt("torch-import", failure(MISSING), "torch"))
    assert (found.severity, found.subject) == (Severity.ERROR, "torch")
    assert found.message == "torch-import failed: the loader found no libcudnn.so.9"


def test_an_import_that_kills_the_process_is_an_error():
    (found,) = tried(check, attempt("torch-import", ended(message="the process died by SIGILL"), "torch"))
    assert found.message == "torch-import failed: the process died by SIGILL"


def test_an_import_that_went_well_or_hung_is_silent():
    assert tried(check, attempt("torch-import", device="torch")) == []
    assert tried(check, attempt("torch-import", ended("hung"), "torch")) == []
