"""`envdoctor cache`: keep a copy of the compile cache, bring it back, clear it of what is damaged, prove that it hits.

Entries of a cache are code that torch runs. Here they are bytes: read, hashed, packed and moved, never unpickled,
imported or run.
"""
