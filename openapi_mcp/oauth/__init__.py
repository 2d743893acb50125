"""OAuth 2.0 towards the API: access tokens for the document's security schemes, fetched, renewed and stored."""
