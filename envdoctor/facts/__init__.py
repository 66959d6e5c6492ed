"""One fact a file: a frozen dataclass, `collect(target, host, ...)`, and a pure `parse` where there is text to read."""
