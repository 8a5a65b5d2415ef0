"""Write what `fabricmark validate --fit` finds into systems/*.toml.

    .venv/bin/python tools/write_fitted.py

Only the numbers after `fitted =` change, and the sentence of a value that is new; a test of the validation
compares files and fit.
"""

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from fabricmark.base import paths
from fabricmark.results import published
from fabricmark.systems import files, key_lines
from fabricmark.validate import fit, fit_view, tables
from fabricmark.validate.parameters import GROUPS, Group, Parameter

FITTED = re.compile(r"fitted = (\"[^\"]*\"|[0-9.eE+-]+)")


def written(parameter: Parameter, value: float) -> str:
    """The value as TOML: a quantity in quotes, a plain number without."""
    text = fit_view.quantity(parameter, value)
    return f'"{text}"' if " " in text else text


def places(parameter: Parameter, system: str) -> list[tuple[Path, tuple[str, ...]]]:
    """The file and the table of each owner of a parameter, in the system whose rows it is fitted to."""
    folder = paths.root() / "systems"
    if parameter.kind == "board":
        return [(folder / "boards" / f"{parameter.board}.toml", ())]
    devices = files.parse(folder / f"{system}.toml")["devices"]
    own = next(one for one in devices if one["board"] == parameter.board)
    if parameter.kind == "network":
        names = [own["networks"][owner] for owner in parameter.owners]
        return [(folder / "networks" / f"{name}.toml", ()) for name in names]
    bitstreams = [folder / "bitstreams" / f"{name}.toml" for name in own["bitstreams"]]
    return [(file_of(owner, bitstreams), ("bitstreams", owner)) for owner in parameter.owners]


def file_of(bitstream: str, candidates: Sequence[Path]) -> Path:
    """The file that has a bitstream."""
    for path in candidates:
        if bitstream in files.parse(path)["bitstreams"]:
            return path
    raise SystemExit(f"no file has the bitstream {bitstream}")


def write(path: Path, table: tuple[str, ...], name: str, number: str, reason: str) -> None:
    """Put a fitted number into its line, or a new line at the end of its table."""
    text = path.read_text()
    rows, known = text.split("\n"), key_lines.of_keys(text)
    key = (*table, *name.split("."))
    if key in known:
        row = rows[known[key] - 1]
        if FITTED.search(row):
            row = FITTED.sub(f"fitted = {number}", row)
        else:
            row = row.replace(" }", f', fitted = {number}, inferred = "{reason}" }}')
        rows[known[key] - 1] = row
    else:
        group, _, single = name.rpartition(".")
        head = (*table, group) if (*table, group) in known and not table and group else table
        header = known.get(head, 0) if head else 0
        end = next((i for i in range(header, len(rows)) if not rows[i] or rows[i].startswith("[")), len(rows))
        label = single if head != table else name
        rows.insert(end, f'{label} = {{ fitted = {number}, inferred = "{reason}" }}')
    paths.write_atomically(path, "\n".join(rows))


def reason_of(group: Group, rows: list[published.PublishedValue]) -> str:
    devices = ", ".join(str(count) for count in sorted({row.devices for row in rows}))
    printed = sum(row.source == tables.SOURCE for row in rows)
    beside = f" and {printed} of {tables.TABLE}" if printed else ""
    count = len(rows) - printed
    return f"fit to {count} rows of hpcc_fpga_2021.csv{beside} ({group.name}; devices: {devices})"


def main() -> None:
    rows = tables.with_tables(published.load())
    values = fit.fit(rows, fit_view.loaded("fitted"))
    for group in GROUPS:
        own = fit.rows_of(group, rows)
        for parameter in group.parameters if own else ():
            for (path, table), name in product(places(parameter, own[0].system), parameter.names):
                write(path, table, name, written(parameter, values[parameter]), reason_of(group, own))
                print(f"{path.name}: {'.'.join((*table, name))} = {written(parameter, values[parameter])}")


if __name__ == "__main__":
    main()
