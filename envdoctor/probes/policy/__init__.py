"""Faults of the configuration itself."""
