"""The output of the command `inspect`, as text and JSON."""
