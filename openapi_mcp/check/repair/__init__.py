"""Repairs of a document, as an overlay."""
