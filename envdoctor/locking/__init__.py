"""Make locks: `envdoctor lock compile` and `envdoctor lock from-target`.

The resolving is pip-tools' and uv's. What is done here is around it: which of them can do what was asked, what of pip's
configuration uv has to be told, what of their output may stand in a lock that others read, the header by which a lock
can be judged years later, and that a lock that fails never replaces a good one.
"""
