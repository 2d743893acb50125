"""The options of all commands and of the settings file, as tables."""
