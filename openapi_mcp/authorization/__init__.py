"""The door of the HTTP server as an OAuth 2.1 resource server: access tokens verified, and what their scopes allow."""
