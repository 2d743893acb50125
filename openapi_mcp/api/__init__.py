"""A compiled document with its options, and what calls of its API need."""
