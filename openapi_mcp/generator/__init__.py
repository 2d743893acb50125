"""Write the tools of a bridge as the source of a standalone Python package."""
