"""The only door to the machine: processes, clock, writes, and the deadline under which everything is read."""
