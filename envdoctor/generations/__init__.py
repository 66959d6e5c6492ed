"""Environments that are made beside the one in use, and the link by which one of them is the one in use."""
