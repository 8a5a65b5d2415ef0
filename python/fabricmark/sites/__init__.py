"""What a centre asks that runs the suite every night: passed, slower, broken, and where (docs/sites.md)."""
