"""Figures that texts print of the tsunami through a ring of boards (Mondigo 2020, section 3.3.2)."""

from fabricmark.models._cascade_figures import figure
from fabricmark.models._published import Published

PUBLISHED = Published({}, lambda row, parameters: {}, figure=figure)
