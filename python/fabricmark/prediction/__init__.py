"""`fabricmark predict`: figures of a described system, over devices and any parameter."""
