"""A Step to a Reply: the catalog of tools, calls, notifications, reloading."""
