"""Is the configuration itself in order?"""
