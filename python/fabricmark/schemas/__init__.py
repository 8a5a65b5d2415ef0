"""The published JSON Schemas (base/schema.py checks with them)."""
