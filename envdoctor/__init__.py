"""envdoctor: is this GPU training environment still the one its lock describes?"""

__version__ = "0.1.0"
