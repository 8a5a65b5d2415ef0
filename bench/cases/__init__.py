"""One module per comparison: `compare(settings) -> list[Row]`; bench/run.py lists this folder."""
