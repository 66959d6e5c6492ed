"""Faults of the lock itself."""
