"""OpenAPI overlays: changes of a document that stand in a file of their own."""
