"""Statements of a document, an overlay or a user about tools and their arguments."""
