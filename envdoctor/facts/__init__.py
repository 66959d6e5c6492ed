"""Facts and their readers: all reading of the target and the machine is here.

A fact is a module with a frozen dataclass and `collect(target, host, ...)`, named in `snapshot.FACTS`. The others
(records, metadata, batches, install_times, stat_index, comparison, deep, hashing, hash_memory, elf, linking, ld_cache,
cuda_tools, driver_files) read what several facts need, or a part of one.
"""
