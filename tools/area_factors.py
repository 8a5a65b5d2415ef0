"""Writes data/fitted/area.toml, factors of resources fitted on every second published build, and
data/fitted/area_builds.csv, each build beside its estimate. Run it again when kernels or bitstreams change:

.venv/bin/python tools/area_factors.py
"""

from fabricmark.base import paths
from fabricmark.explore import area, area_fit


def texts() -> dict[str, str]:
    """The files by name."""
    every = area_fit.builds()
    tables = area_fit.tables(every)
    return {
        "area.toml": area_fit.toml_text(tables),
        "area_builds.csv": area_fit.csv_text(list(area_fit.rows(every, tables))),
    }


def main() -> None:
    paths.make_folder(area.folder())
    for name, text in texts().items():
        paths.write_atomically(area.folder() / name, text)


if __name__ == "__main__":
    main()
