"""What became of an environment and why a package is there, told from one snapshot; nothing was watched before."""
