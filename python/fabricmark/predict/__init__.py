"""`fabricmark predict`: metrics of a described system, over devices and any parameter."""
