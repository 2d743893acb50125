"""The command `serve`: stdio and HTTP, and reloading while they run."""
