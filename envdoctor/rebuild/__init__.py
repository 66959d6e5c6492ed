"""Rebuild an environment from its lock: plan, fetch, make, prove, try out, and only then switch."""
