"""The runtime half: tools → answers. It imports nothing of the compile side and can be copied whole into a package."""
