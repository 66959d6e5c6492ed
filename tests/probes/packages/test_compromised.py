"""A release that was malicious is an error wherever on the path it lies; its honest neighbours are not."""

import pytest
from values import distribution, distributions, findings

from envdoctor.model import Severity
from envdoctor.probes.packages.compromised import check


@pytest.mark.parametrize(("name", "version"), [("ultralytics", "8.3.41"), ("torchtriton", "3.0.0+0d7e753227")])
@pytest.mark.parametrize("origin", ["site-packages", "user-site", "system-site"])
def test_a_malicious_release_is_an_error(name, version, origin):
    (finding,) = findings(check, distributions=distributions(distribution(name, version, origin=origin)))
    assert (finding.severity, finding.subject) == (Severity.ERROR, name)
    assert finding.evidence["source"]
    assert "credential" in finding.remedy[1], "a new venv alone is no cure"


@pytest.mark.parametrize("neighbour", ["ultralytics==8.3.43", "pytorch-triton==3.0.0", "triton==3.0.0"])
def test_healthy_neighbours(neighbour):
    assert findings(check, distributions=distributions(neighbour)) == []
