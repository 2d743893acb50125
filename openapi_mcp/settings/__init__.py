"""The settings file of a server: where it is, what it says, and where it is wrong."""
