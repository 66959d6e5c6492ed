"""Distributions with probes, as an installer would leave them in a directory of envdoctor's own environment."""

import sys
from dataclasses import dataclass
from pathlib import Path

from envdoctor import plugins, registry
from envdoctor.wheels import Wheel

PROBE = '''"""{title}

Why it matters: it is a test.

What to do: nothing.
"""
from envdoctor.model import Finding, Severity


def check({asks}):
    {body}
'''
SAYS = 'yield Finding(Severity.WARNING, "badge", "the badge has expired", {"days": 3}, ("renew it",))'


def probe(body=SAYS, asks="target", title="The badge has expired."):
    """Return the source of a probe."""
    return PROBE.format(title=title, asks=asks, body=body)


def distribution(name, modules=None, entries=None, version="1.0", package=None):
    """Return a wheel whose package holds these modules, `__init__` included, and is a plug-in for the area `acme`."""
    package = package or name.replace("-", "_")
    files = {f"{package}/{module}.py": source for module, source in ({"__init__": ""} | (modules or {})).items()}
    entries = {"acme": package} if entries is None else entries
    lines = [f"{area} = {value}" for area, value in entries.items()]
    stem = Wheel(name, version).stem
    files[f"{stem}.dist-info/entry_points.txt"] = "\n".join([f"[{plugins.GROUP}]", *lines, ""])
    return Wheel(name, version, files)


@dataclass
class Site:
    """A site-packages directory that is the only one in which plug-ins are looked for."""

    folder: Path

    def add(self, *wheels):
        """Unpack wheels; what was known of plug-ins is forgotten."""
        for wheel in wheels:
            for path, content in wheel.entries().items():
                file = self.folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        self.forget()

    def holds(self, modules=None, entries=None, name="acme-probes"):
        self.add(distribution(name, modules, entries))

    def forget(self):
        for remembered in (registry._listed, registry.areas, registry.ids, registry.of_area, registry.probes):
            remembered.cache_clear()
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "")).startswith(str(self.folder)):
                del sys.modules[name]
