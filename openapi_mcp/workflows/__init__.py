"""Workflows: Arazzo Descriptions (1.0, 1.1) as tools, each of which makes several calls of the API."""
