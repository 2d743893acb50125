"""The arguments of a call: checked against the tool's inputSchema, coerced where that is safe, else explained."""
