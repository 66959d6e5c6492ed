"""`envdoctor run`: a checked and sanitised environment for a command, and then nothing but the command."""
