"""The parts of the command `inspect` that are about the look of its output."""
