"""Kinds of checks of the RTL, a module each: `TOOLS` that have to be there, and `tasks`."""
