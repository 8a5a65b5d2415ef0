"""Types of numbers that the benchmarks have as `data_type`."""

# Bytes of a stored one; mixed: halves that are multiplied and added as floats.
ELEMENT_BYTES = {"half": 2, "mixed": 2, "float": 4, "double": 8}
# Of one that is computed with.
VALUE_BYTES = {**ELEMENT_BYTES, "mixed": 4}
# Whose arithmetic is theirs.
ARITHMETIC = {"half": "half", "float": "float", "double": "double", "mixed": "float"}
