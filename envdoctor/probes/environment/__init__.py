"""Faults of the environment itself: its interpreter, its path, its scripts, what runs before the job does."""
