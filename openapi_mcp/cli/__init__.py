"""The command line: options, settings file, commands, and what they print."""
