"""The runtime half: tools → answers. It imports nothing of the compile side, so it can be copied whole into a package."""
