"""Two versions of a document compared as sets of tools: what changes for a model and for those who use the tools."""
