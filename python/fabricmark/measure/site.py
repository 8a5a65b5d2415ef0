"""Sites with FPGAs: a TOML file says what an allocation of boards needs before and between runs.

`submit` takes modules, nodes and options of the scheduler from it, `run` and the tasks of jobs tools, links
of the boards, hooks and bitstreams. Commands are never run through a shell.
"""

import math
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabricmark.base import toml_file
from fabricmark.base.errors import ENVIRONMENT, FabricmarkError, check_known
from fabricmark.build import sidecars
from fabricmark.measure import cabling, launchers
from fabricmark.measure.campaign import Point
from fabricmark.measure.launch import Job

SECONDS = 300  # of a hook or of setting links, where the file says nothing
OF_BOARD = ("board", "device")  # placeholders for which a hook runs once a board
IN_END, IN_LINK, IN_HOOK = ("node", "board", "port"), ("from", "to"), (*OF_BOARD, "bitstream")
BITSTREAMS = (".aocx.toml", ".xclbin.toml")  # their sidecars
PACKED, SPREAD = "packed", "spread"


@dataclass(frozen=True)
class Hook:
    when: str
    command: Sequence[str]
    seconds: int = SECONDS

    def uses(self, *names: str) -> bool:
        return any(f"{{{name}}}" in word for word in self.command for name in names)


@dataclass(frozen=True)
class Links:
    """How the switch is told; `command`: empty where links are options of the scheduler."""

    ports: int
    end: str
    link: str
    topologies: Mapping[str, str]
    command: Sequence[str] = ()
    shorthands: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Allocation:
    """What a site file says of one kind of nodes, by the names of its keys (schemas/site-1.schema.json)."""

    file: Path
    name: str
    boards_per_node: int
    nodes: int = 0
    placement: str = PACKED
    board: str = ""
    shell: str = ""
    bitstreams: str = ""
    devices: Sequence[str] = ()
    setup: Sequence[str] = ()
    modules: Sequence[str] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    links: Links | None = None
    hooks: Sequence[Hook] = ()

    @property
    def word(self) -> str:
        """As --site takes it."""
        return f"{self.file.absolute()}:{self.name}"

    def nodes_for(self, boards: int) -> int:
        """Raises FabricmarkError (2) where the site has fewer."""
        wanted = math.ceil(boards / self.boards_per_node)
        if self.nodes and wanted > self.nodes:
            cause = f"{boards} boards are on {wanted} nodes, and {self.file} has {self.nodes} of {self.name}"
            raise FabricmarkError(cause, "use fewer ranks")
        return wanted

    def place(self, rank: int, ranks: int) -> tuple[int, int]:
        """(node, board of it) of a rank."""
        if self.placement == SPREAD:
            nodes = self.nodes_for(ranks)
            return rank % nodes, rank // nodes
        return divmod(rank, self.boards_per_node)

    def topology(self, benchmark: str) -> str:
        """The one of its boards, "" where the file names none: then no link is set for it."""
        return self.links.topologies.get(benchmark, "") if self.links else ""

    def link_words(self, topology: str, ranks: int) -> list[str]:
        """What the switch is told: a word for each cable, or its own for this topology. Raises
        FabricmarkError (2) where ranks and topology do not fit each other or the boards."""
        laid = self.cables(topology, ranks)
        assert self.links is not None
        if topology in self.links.shorthands:
            return list(self.links.shorthands[topology])
        return [self.links.link.format(**{"from": self._end(one, ranks), "to": self._end(other, ranks)})
                for one, other in laid]  # fmt: skip

    def cables(self, topology: str, ranks: int) -> list[cabling.Cable]:
        """Between ranks. Raises FabricmarkError (2) as `link_words`."""
        if self.links is None:
            raise FabricmarkError(f"{self.file}: {self.name} has no links", "add its table links")
        self.nodes_for(ranks)
        return cabling.cables(topology, ranks, self.links.ports)

    def _end(self, end: cabling.End, ranks: int) -> str:
        assert self.links is not None
        node, board = self.place(end[0], ranks)
        return self.links.end.format(node=f"{node:02}", board=board, port=end[1])

    def script_lines(self) -> list[str]:
        """Of a job, before its points."""
        load = [f"module load {' '.join(self.modules)} || exit {ENVIRONMENT}"] if self.modules else []
        return [*self.setup, *load]

    def bitstream(self, point: Point) -> Path | None:
        """The one in the folder that is for this board and shell and was built as the point asks; None where
        the file names no folder or the point a bitstream. Raises FabricmarkError (2): none, or several."""
        if not self.bitstreams or "bitstream" in _options(point):
            return None
        folder = self.file.absolute().parent / self.bitstreams
        found = [one for one in _sidecars(folder) if self._fits(one, point)]
        if len(found) == 1:
            return found[0].bitstream.with_suffix("")
        where = f"of {self.board or 'any board'} and shell {self.shell or 'any'} in {folder}"
        if not found:
            cause = f"{point.label()}: no bitstream {where} was built as it asks"
            raise FabricmarkError(cause, "build it with `fabricmark build`, or change the point's options")
        names = " and ".join(sorted(one.bitstream.with_suffix("").name for one in found)[:2])
        cause = f"{point.label()}: several bitstreams {where}: {names}"
        raise FabricmarkError(cause, "name variant or parameters of the one in the campaign")

    def _fits(self, sidecar: sidecars.Sidecar, point: Point) -> bool:
        values, asked = sidecar.values, _options(point)
        built = values.get(sidecars.PARAMETERS)
        parameters = built if isinstance(built, Mapping) else {}
        return (
            values.get("benchmark") == point.benchmark
            and (not self.board or values.get("board") == self.board)
            and self.shell in str(values.get("shell", ""))
            and asked.get("variant", values.get("variant")) == values.get("variant")
            and all(parameters[name] == asked[name] for name in parameters.keys() & asked.keys())
        )


def _options(point: Point) -> Mapping[str, object]:
    options = point.settings["options"]
    return options if isinstance(options, Mapping) else {}


def boards(point: Point) -> int:
    """How many a point uses: one a rank."""
    return int(str(point.settings.get("mpi", point.settings.get("ranks", 1))))


def _sidecars(folder: Path) -> Iterator[sidecars.Sidecar]:
    """Of all bitstreams below a folder. Raises FabricmarkError (2) for none, or a damaged one."""
    if not folder.is_dir():
        raise FabricmarkError(f"there is no folder {folder}", "correct bitstreams of the site file")
    for file in sorted(folder.rglob("*.toml")):
        if file.name.endswith(BITSTREAMS):
            yield sidecars.load(file)


def load(word: str) -> Allocation:
    """FILE, or FILE:ALLOCATION where it has several. Raises FabricmarkError (2) naming file, key, remedy."""
    text, colon, name = word.rpartition(":")
    if not colon or "/" in name or Path(word).is_file():
        text, name = word, ""
    file = Path(text)
    document = toml_file.load(file, "site-1", "give a TOML file as docs/sites.md shows")
    for key, value in toml_file.leaves(document):
        if isinstance(value, str) and not value.isprintable():
            raise FabricmarkError(
                f"{file}: {key}: {value!r} has unprintable characters", "write a plain text"
            )
    every = {one: _allocation(file, one, table) for one, table in document["allocations"].items()}
    if not name and len(every) > 1:
        cause = f"{file} has several allocations: {', '.join(every)}"
        raise FabricmarkError(cause, f"name one: --site {file}:{next(iter(every))}")
    if name:
        check_known(name, every, f"{file} has no allocation {name!r}")
    return every[name or next(iter(every))]


def _allocation(file: Path, name: str, table: Mapping) -> Allocation:
    """Checked beyond the schema: placeholders, and what has to be as many. Raises FabricmarkError (2)."""
    place = f"{file}: allocations.{name}"
    links = Links(**table["links"]) if "links" in table else None
    hooks = [Hook(**one) for one in table.get("hooks", [])]
    if links is not None:
        launchers.check_placeholders(f"{place}.links.end", [links.end], IN_END)
        launchers.check_placeholders(f"{place}.links.link", [links.link], IN_LINK)
        for text in links.topologies.values():
            cabling.check(text)
    for number, hook in enumerate(hooks):
        used = IN_HOOK if hook.uses(*IN_HOOK) else ()
        launchers.check_placeholders(f"{place}.hooks[{number}].command", hook.command, used)
        if hook.uses("device") and "devices" not in table:
            raise FabricmarkError(f"{place}: a hook has {{device}}, but there are no devices", "add devices")
    if len(table.get("devices", [None] * table["boards_per_node"])) != table["boards_per_node"]:
        count = len(table["devices"])
        cause = f"{place}: {count} devices of {table['boards_per_node']} boards a node"
        raise FabricmarkError(cause, "name each board of a node once")
    return Allocation(file, name, **{**table, "links": links, "hooks": hooks})


class Session:
    """The runs of one process within an allocation: what was set last, and what comes before each point."""

    def __init__(self, allocation: Allocation) -> None:
        """Raises FabricmarkError (3) where a tool is not there or of another version."""
        self._allocation = allocation
        self._links: list[str] | None = None
        self._is_new = True
        for program, wanted in allocation.tools.items():
            said = run([program, "--version"], SECONDS)
            if wanted not in said:
                first = next(iter(said.split("\n")), "").strip()
                cause = f"{program} --version says {first!r}, not {wanted} as {allocation.file}"
                raise FabricmarkError(cause, f"load the modules of {allocation.name}", ENVIRONMENT)

    def before(self, point: Point, job: Job) -> Job:
        """Sets links, runs hooks; the job with its bitstream. Raises FabricmarkError: 2 where the point does
        not fit the site, 3 where a command fails."""
        here = self._allocation
        here.nodes_for(boards(point))
        bitstream = here.bitstream(point)
        self._set_links(point)
        for when in ("job", "point") if self._is_new else ("point",):
            self._run_hooks(when, point, bitstream)
        self._is_new = False
        extra = (*job.extra, f"--bitstream={bitstream}") if bitstream else job.extra
        return replace(job, extra=extra, variables=(*job.variables, *here.variables.items()))

    def failed(self, point: Point) -> None:
        """After a point that failed. Raises FabricmarkError (3) where a hook does, too."""
        self._links = None
        self._run_hooks("failure", point, self._allocation.bitstream(point))

    def _set_links(self, point: Point) -> None:
        topology, links = self._allocation.topology(point.benchmark), self._allocation.links
        if not topology or links is None or not links.command:
            return
        words = self._allocation.link_words(topology, boards(point))
        if words != self._links:
            self._links = None
            run([*links.command, *words], SECONDS)
            self._links = words

    def _run_hooks(self, when: str, point: Point, bitstream: Path | None) -> None:
        here = self._allocation
        for hook in here.hooks:
            if hook.when != when:
                continue
            if hook.uses("bitstream") and bitstream is None:
                cause = f"{point.label()}: a hook has {{bitstream}}, but nothing says which one"
                raise FabricmarkError(cause, "name a folder of bitstreams in the site file")
            count = min(here.boards_per_node, boards(point)) if hook.uses(*OF_BOARD) else 1
            for board in range(count):
                device = here.devices[board] if here.devices else ""
                values = {"board": board, "device": device, "bitstream": bitstream}
                run([word.format(**values) for word in hook.command], hook.seconds)


def run(command: Sequence[str], seconds: int) -> str:
    """What a command of the site prints. Raises FabricmarkError (3) with its last line where it fails."""
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=seconds, env=os.environ,
        )  # fmt: skip
    except OSError as error:
        cause = f"cannot start {command[0]}: {error.strerror}"
        raise FabricmarkError(cause, "load its module, or correct the site file", ENVIRONMENT) from error
    except subprocess.TimeoutExpired as error:
        cause = f"{' '.join(command)} did not end within {seconds} s"
        raise FabricmarkError(
            cause, "look at the board, or give the hook more seconds", ENVIRONMENT
        ) from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        said = f": {last[0]}" if last else ""
        cause = f"{' '.join(command)} ended with {done.returncode}{said}"
        raise FabricmarkError(cause, "correct the site file, or ask who runs the site", ENVIRONMENT)
    return done.stdout + done.stderr
