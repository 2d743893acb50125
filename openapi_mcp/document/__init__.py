"""Load a Document from a path, URL or stdin: read, parse, bundle its files, convert Swagger 2.0, follow references."""
