"""Search over tools: the index, the ranking, and the tools that answer in search mode."""
