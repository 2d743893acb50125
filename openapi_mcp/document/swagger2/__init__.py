"""Convert Swagger 2.0 to OpenAPI 3: the document, its objects, and the pointers into what it was."""
