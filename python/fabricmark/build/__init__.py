"""`fabricmark build`: the command lines by which the vendors' tools make a bitstream of a kernel."""
