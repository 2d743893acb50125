"""Tool calls as an operator sees them: a line for each, an audit file, metrics, and traces."""
