"""What is remembered between runs, in one SQLite file a host: marks, verdicts, findings, snapshots, variables."""
