"""Is what is installed what the lock, the RECORDs and the metadata say?"""
