"""An Operation to a Tool: names, arguments, request bodies, responses, base URLs, security."""
