"""A setting in which threads broke each other is told."""

from envdoctor.probes.smoke.threads import check  # noqa: F401
