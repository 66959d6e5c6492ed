"""Do something as a user without privilege, where the tests run as root."""

import ctypes
import os
import pickle

NOBODY = 65534
PR_CAPBSET_DROP = 24
"""include/uapi/linux/prctl.h."""


def as_nobody(function):
    """Call it in a child that gave up root; return what it returned."""
    if os.geteuid() != 0:
        return function()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, pickle.dumps(function()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(pid, 0)
    assert data, "the child died"
    return pickle.loads(data)  # noqa: S301 - written by our own child


def without_privilege():
    """Let the program that this child becomes have no capability (capabilities(7)): modes bind root as anybody else.

    For `preexec_fn`, where another user could not run the Python of the tests.
    """
    drop = ctypes.CDLL(None, use_errno=True).prctl
    for capability in range(64):
        drop(PR_CAPBSET_DROP, capability, 0, 0, 0)
