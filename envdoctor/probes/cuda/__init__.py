"""Faults of the CUDA stack: driver, toolkit, wheels, loader and GPU architecture."""
