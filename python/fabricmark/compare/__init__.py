"""`fabricmark compare` and `ab`: whether one side's runs are as fast as the other's."""
