"""Faults of the machine that a job is to run on."""
