"""What a document, an overlay or a user says about tools and their arguments."""
