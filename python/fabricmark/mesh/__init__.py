"""Meshes of triangles: `fabricmark-mesh` reads, makes and refines them; here they are drawn."""
