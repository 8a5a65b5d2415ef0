"""Tsunami: no kernels yet, and no model but of what is printed of its design (published.py)."""
