"""Programs that call tools: the tools that offer them, their limits, and the sandbox that runs them."""
