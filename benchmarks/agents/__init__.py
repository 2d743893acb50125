"""A judge of modes without a model: scripted tasks against real programs, as tool calls, searches and programs."""
