"""One fault a module. A probe is a docstring and `check(facts...)`; it judges values and touches nothing."""
