"""What calls take where ranks share the cables of a network, beside the closed form."""
