"""A document judged as a set of tools: findings, a score, and overlays that repair it."""
