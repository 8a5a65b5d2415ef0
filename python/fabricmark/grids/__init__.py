"""Plane grids of depths and waves: cut from the files of others, lifted by earthquakes, drawn."""
