"""How compiling itself is set up."""
