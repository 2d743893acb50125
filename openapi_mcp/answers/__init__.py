"""What a model takes of an answer: a selection of it, and several pages of a list at once."""
