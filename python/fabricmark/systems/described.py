"""Files of a system that is described by another one: what is given, and what is taken over as assumed."""

from collections.abc import Iterator
from dataclasses import dataclass

from fabricmark.base import keys
from fabricmark.base.grouping import grouped
from fabricmark.systems import files, shipped, text
from fabricmark.systems.changes import BITSTREAM, BOARD, DEVICES, NETWORK, PARAMETER, TEXT, Change
from fabricmark.systems.files import SourcedValue
from fabricmark.systems.original import Original, Sourced

Table = dict[str, object]  # key to text, number, or a table of them


@dataclass(frozen=True)
class Description:
    """`source`: where the values that are given come from."""

    name: str
    original: Original
    changes: tuple[Change, ...]
    source: str

    @property
    def keys(self) -> list[str]:
        """Of the changes, as they were set."""
        return list(dict.fromkeys(one.key for one in self.changes))

    def given(self, kind: str, of: str = "") -> dict[str, Change]:
        """Changes of one file or table, by key."""
        return {one.name: one for one in self.changes if (one.kind, one.of) == (kind, of)}

    def number_of_assumed(self) -> int:
        """Values that are taken over."""
        parts = [(BOARD, "", self.original.board), (DEVICES, "", self.original.devices)]
        parts += [(NETWORK, one, values) for one, values in self.original.networks.items()]
        parts += [(BITSTREAM, one, design.values) for one, design in self.original.designs.items()]
        return sum(len(set(values) - set(self._own(kind, of))) for kind, of, values in parts)

    def _own(self, kind: str, of: str) -> dict[str, Change]:
        """What is given for a part; a board's value also for the bitstreams that have one in its place."""
        found = self.given(kind, of)
        if kind == BITSTREAM:
            of_board = {name: one for name, one in self.given(BOARD).items() if name.startswith("memory.")}
            said = self.original.designs[of].values
            found = {**{name: one for name, one in of_board.items() if name in said}, **found}
        return found

    def numbers(self, kind: str, of: str, values: Sourced) -> dict[str, float]:
        """The numbers of a part that count, SI units."""
        found = {
            name: float(number) for name, one in values.items() if (number := one.of("fitted")) is not None
        }
        return found | {name: one.value for name, one in self._own(kind, of).items()}

    def files(self) -> dict[str, str]:
        """Content by place in a folder of systems; the system's own file is the last."""
        places = {files.FOLDERS[BOARD]: self._board(), files.FOLDERS["bitstreams"]: self._bitstreams()}
        found = {f"{folder}/{self.name}.toml": content for folder, content in places.items() if content}
        for one in self.original.networks:
            found[f"{files.FOLDERS[NETWORK]}/{self.network_id(one)}.toml"] = self._network(one)
        return found | {f"{self.name}.toml": self._system()}

    def network_id(self, of: str) -> str:
        return f"{self.name}_{of}"

    def _about(self) -> str:
        given = ", ".join(self.keys) or "nothing"
        return f"described as {self.original.name} is, but for {given}; nobody measured it"

    def _assumed(self, one: SourcedValue) -> Table:
        """A value of the original: it says nothing of this system, so that it is no published one here."""
        is_fitted = one.fitted is not None
        why = one.inferred if is_fitted else one.source
        number = one.fitted_text if is_fitted else one.value_text
        raw = _plain(number) if one.dimension in keys.PLAIN else number
        return {"fitted": raw, "inferred": f"assumed, taken over from {self.original.name}: {why}"}

    def _values(self, kind: str, of: str, values: Sourced) -> Table:
        """All values of a part: what is given as such, the rest as assumed."""
        assumed = {name: self._assumed(one) for name, one in values.items()}
        given = {name: {"value": one.raw, "source": self.source} for name, one in self._own(kind, of).items()}
        return {**assumed, **given}

    def _board(self) -> str:
        texts: Table = {"name": self.name, "summary": self._about()}
        texts |= {one.name: one.raw for one in self.given(TEXT).values()}
        values = self._values(BOARD, "", self.original.board)
        return _lines({**texts, "like": self.original.board_id, **values})

    def _network(self, of: str) -> str:
        values = self._values(NETWORK, of, self.original.networks[of])
        return _lines({"summary": self._about(), "like": of, **values})

    def _bitstreams(self) -> str:
        """ "" where the original has none."""
        if not self.original.designs:
            return ""
        why = f"not synthesised for {self.name}: as on {self.original.name}"
        parts = [_lines({"board": self.name, "summary": self._about()})]
        for name, design in self.original.designs.items():
            table: Table = {"like": design.id, "inferred": why}
            if given := self.given(PARAMETER, name):
                table |= {"source": self.source, "parameters": {key: one.raw for key, one in given.items()}}
            parts.append(
                _lines({**table, **self._values(BITSTREAM, name, design.values)}, f"bitstreams.{name}")
            )
        return "\n".join(parts)

    def _system(self) -> str:
        texts = self.given(TEXT)
        name = texts["name"].raw if "name" in texts else self.name
        alone = {
            name: {"fitted": 1, "inferred": "assumed: a board by itself"} for name in ("per_node", "most")
        }
        devices: Table = {"board": self.name}
        devices |= alone | self._values(DEVICES, "", self.original.devices)
        if self.original.designs:
            devices["bitstreams"] = [self.name]
        networks = {one: self.network_id(of) for one, of in self.original.transports.items()}
        parts = [_lines({"name": name, "summary": self._about()}), _lines(devices, "[devices]")]
        parts += [_lines(dict(networks), "devices.networks")] if networks else []
        return "\n".join(parts)


def losses(description: Description) -> Iterator[str]:
    """The values of the board by which it is slower than its numbers, and that nobody measured on it."""
    given = description.given(BOARD)
    for name, one in description.original.board.items():
        if name not in given and one.fitted is not None and keys.BOARD[name].usual is not None:
            yield f"{name} {one.fitted_text}"


def warnings(description: Description) -> list[str]:
    """What is assumed perfect, or beyond all that ships: each in one sentence."""
    of, device_class = description.original, description.original.device_class
    found = []
    for one in description.changes:
        if one.kind in (BOARD, NETWORK, BITSTREAM, DEVICES):
            said = shipped.beyond(one.kind, device_class, one.name, one.value)
            found += [f"{one.key}: {said}"] if said else []
    found = list(dict.fromkeys(found))
    board = description.numbers(BOARD, "", of.board)
    found += shipped.totals(device_class, board)
    found += shipped.faster_than_the_link(board)
    parts = [(BOARD, "", of.board), *((NETWORK, one, values) for one, values in of.networks.items())]
    parts += [(BITSTREAM, one, design.values) for one, design in of.designs.items()]
    for kind, name, values in parts:
        numbers = description.numbers(kind, name, values)
        lossless = shipped.perfect(kind, device_class, numbers, description.given(kind, name))
        found += [f"{kind}.{name}.{one}" if name else one for one in lossless]
    for name in of.designs:
        if given := description.given(PARAMETER, name):
            found.append(f"bitstream.{name}: clock and resources are those without {', '.join(given)}")
    return found


def faults(description: Description) -> list[str]:
    """What does not fit together, each in one sentence."""
    devices = description.numbers(DEVICES, "", description.original.devices)
    per_node, most = devices.get("per_node", 1.0), devices.get("most", 1.0)
    if per_node > most:
        return [
            f"per_node {per_node:.0f} is more than most {most:.0f}: a node has more devices than the system"
        ]
    return []


def _plain(number: str) -> int | float:
    return float(number) if any(letter in number for letter in ".eE") else int(number)


def _lines(entries: Table, table: str = "") -> str:
    """Lines of TOML: what stands in no group first, then each group, GROUP.KEY, as a table."""
    lines = [f"[{table}]"] if table else []
    parts = ((*name.rpartition("."), content) for name, content in entries.items())
    groups = grouped((group, f"{single} = {_toml(content)}") for group, _, single, content in parts)
    lines += groups.pop("", [])
    for group, own in groups.items():
        lines += ["", f"[{table}.{group}]" if table else f"[{group}]", *own]
    return "\n".join(lines) + "\n"


def _toml(content: object) -> str:
    if isinstance(content, dict):
        return "{ " + ", ".join(f"{name} = {_toml(one)}" for name, one in content.items()) + " }"
    if isinstance(content, list):
        return "[" + ", ".join(_toml(one) for one in content) + "]"
    return text.value(content)
