"""Hosts that this program may contact: one policy for documents, authorization servers and the API."""
