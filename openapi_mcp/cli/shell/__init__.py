"""What shells ask the command line for."""
