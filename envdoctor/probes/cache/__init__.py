"""Faults of compile caches: gone, cold, damaged, or in the hands of others."""
