"""The score of a document: the signals of JAIRF that need no model."""
