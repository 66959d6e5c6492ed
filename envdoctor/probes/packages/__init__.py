"""Faults of what is installed, against the lock, the RECORDs and the metadata."""
