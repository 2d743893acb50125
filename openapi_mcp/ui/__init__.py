"""The page of a server over HTTP: its tools, a form to call each, and the calls of others while it is open."""
