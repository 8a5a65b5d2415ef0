"""The report as a page and as pictures: one module for each kind of plot, then page.py and pictures.py."""
