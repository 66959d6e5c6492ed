"""What a person who reviews a lock wants to see: what is in it, and what another one changes.

Pure: locks go in (`locks.read`), values come out; `reports.lock_diff` and `reports.lock_show` write them down.

| module | says |
|---|---|
| `families` | which packages belong to torch, which to CUDA |
| `askers` | who wants a package, and whether the project does so itself |
| `forks` | which pin of a name became which |
| `aspects` | what differs between two pins, or two locks |
| `diff` | all that changed, grouped and in the order to read it |
| `summary` | what one lock holds |
"""
