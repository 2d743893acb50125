"""Parts of an answer that a model asks for: a selection of it, and several pages of a list at once."""
