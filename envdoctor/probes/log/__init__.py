"""What the log of a failed run shows."""
