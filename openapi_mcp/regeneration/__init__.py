"""Write a generated package over an earlier one and keep the changes of its owner."""
