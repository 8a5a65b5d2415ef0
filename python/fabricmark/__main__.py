"""`python -m fabricmark` is the command `fabricmark`."""

from fabricmark.cli import app

app()
