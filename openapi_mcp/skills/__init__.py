"""Skills: what a model should know about an API and its tools, as files that clients read when they need them."""
