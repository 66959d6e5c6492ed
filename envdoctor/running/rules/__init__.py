"""What is sanitised, a rule a file: `changes(scene)` yields what to change, and what could not be judged or mended."""
