"""Values computed from facts: pure, asked for by name as facts are, at most once a run, never stored.

A view is a module with one function `view(facts...)`. What several probes would otherwise each work out lives here.
"""
