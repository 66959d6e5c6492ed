"""What pip 26.3 prints when it fails, as it was seen against a local index."""

import pytest

from envdoctor.archives.pipfaults import PipFault, read, without_progress

MISMATCH = """\
Collecting lab-a==1.0 (from -r /tmp/r.txt (line 1))
  Downloading lab_a-1.0-py3-none-any.whl (878 bytes)
Collecting lab-b==2.0 (from -r /tmp/r.txt (line 2))
  Downloading lab_b-2.0-py3-none-any.whl (200 kB)
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, ...
    lab-b==2.0 from http://127.0.0.1:1/files/lab_b-2.0-py3-none-any.whl (from -r /tmp/r.txt (line 2)):
        Expected sha256 0000
        Expected     or 1111
             Got        12a8
"""
MISSING = """\
Collecting lab-a==1.0 (from -r /tmp/r.txt (line 1))
ERROR: Could not find a version that satisfies the requirement Lab_C==1.0 (from versions: 1.1)
ERROR: No matching distribution found for Lab_C==1.0
"""
REFUSED = """\
Collecting lab-b==2.0 (from -r /tmp/r.txt (line 2))
  ERROR: HTTP error 403 while getting http://127.0.0.1:1/files/lab_b-2.0-py3-none-any.whl
"""
UNREACHED = """\
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError("...")': /simple/lab-a/
ERROR: Could not find a version that satisfies the requirement lab-a==1.0 (from versions: none)
ERROR: No matching distribution found for lab-a==1.0
"""
CUT = """\
Collecting lab-a@ http://127.0.0.1:1/files/lab_a-1.0-py3-none-any.whl (from -r /tmp/r.txt (line 1))
Collecting lab-b==2.0 (from -r /tmp/r.txt (line 2))
error: incomplete-download
note: This is an issue with network connectivity, not pip.
"""
CLOSED = """\
Collecting lab-b==2.0 (from -r /tmp/r.txt (line 1))
error: connection-failed
Failed to connect to 127.0.0.1 while fetching http://127.0.0.1:1/files/lab_b-2.0-py3-none-any.whl
"""
BUILDING = """\
Collecting lab-b==2.0 (from -r /tmp/r.txt (line 1))
error: subprocess-exited-with-error
"""
FULL = (
    "Collecting lab-b==2.0\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (MISMATCH, PipFault("digest", "lab-b", "lab_b-2.0-py3-none-any.whl has sha256 12a8, which is not in the lock")),
        (MISSING, PipFault("missing", "lab-c")),
        (REFUSED, PipFault("missing", "lab-b", "the index answers 403")),
        (UNREACHED, PipFault("connection", "lab-a")),
        (CUT, PipFault("connection", "lab-b")),
        (CLOSED, PipFault("connection", "lab-b")),
        (BUILDING, PipFault("build", "lab-b")),
        (FULL, PipFault("full", "lab-b")),
        ("ERROR: Exception:\n", PipFault("other", "")),
        ("", PipFault("other", "")),
    ],
)
def test_a_failure_names_the_package_and_what_is_wrong(text, fault):
    assert read(text, {"lab-a", "lab-b", "lab-c"}) == fault


def test_a_name_that_was_not_asked_for_is_not_named():
    assert read(MISSING, {"lab-z"}) == PipFault("missing", "")


def test_how_far_a_download_is_is_no_last_word():
    assert without_progress("a\nProgress 1 of 2\nProgress 2 of 2\nb\n") == "a\nb\n"
