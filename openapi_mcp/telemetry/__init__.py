"""What an operator sees of tool calls: a line for each, an audit file, metrics, and traces."""
