"""Is this GPU training environment still the one its lock describes? envdoctor says."""

__version__ = "0.1.0"
