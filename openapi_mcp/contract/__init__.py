"""A Document against traffic: validation of the document, and drift between it and the API (openapi-core)."""
