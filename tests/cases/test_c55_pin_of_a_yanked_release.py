"""An exact pin still gets a release that was yanked: modal-labs/modal-examples#1622.

The same release lies behind hiyouga/LlamaFactory#9327: `transformers==4.57` is 4.57.0, and 4.57.1 is fine.
"""

import os

import pytest
from doctor import Doctor
from indexes import entry, page, serve

REASON = "Error in the setup causing installation issues"
RELEASES = page(
    entry("transformers-4.57.0-py3-none-any.whl", yanked=REASON),
    entry("transformers-4.57.0.tar.gz", yanked=REASON),
    entry("transformers-4.57.1-py3-none-any.whl"),
    name="transformers",
)


def audit(folder, pin):
    (folder / "lock.txt").write_text(f"{pin}\n")
    with serve(transformers=RELEASES) as server:
        given = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": server.address}
        return Doctor(folder)("lock", "audit", "--online", "--format", "json", "lock.txt", env=given)


@pytest.mark.parametrize("version", ["4.57", "4.57.0"])
def test_both_spellings_are_warned_of(tmp_path, version):
    (found,) = audit(tmp_path, f"transformers=={version}").findings("lock/yanked")
    assert (found["severity"], found["subject"], found["evidence"]["line"]) == ("warning", "transformers", 1)
    assert REASON in found["message"]


def test_control_the_next_release_is_silent(tmp_path):
    assert audit(tmp_path, "transformers==4.57.1").findings("lock/yanked") == []
