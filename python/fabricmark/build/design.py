"""What is to be built: the kernels of a variant with their parameters, their copies and where memory lies."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base import kernels, paths, transports
from fabricmark.base.errors import FabricmarkError, check_known
from fabricmark.build import accl
from fabricmark.systems import choice, export

FPGA = "fpga"
STYLE = "single-work-item"
DATAFLOW = "dataflow"
# In what the kernels are written that the tool compiles. Where a variant has them in HLS C++, too, both are
# the same lines (kernels/common/hls.hpp); SYCL C++ are the lines of OpenCL C (kernels/common/sycl.hpp).
OPENCL, HLS, SYCL = "opencl", "hls", "sycl"
LANGUAGES = {OPENCL: "OpenCL C", HLS: "HLS C++", SYCL: "SYCL C++"}
REPLICATIONS = "replications"
PARTITION = ("partition_elements",)  # of runs, and of local memory
# The kernel without a body that micro-benchmarks start with each memory; by the letters of their options what
# v++'s linker calls a memory.
TOUCH, MEMORIES = "touch", "memories"
LINKED = {"D": "DDR[0]", "B": "HBM[0]", "P": "PLRAM[0]"}


@dataclass(frozen=True)
class Memory:
    """The memory of a board as `systems export` has it; `banks` and `bank_bytes` 0: nothing is known.

    `kind`: ddr, hbm or host. `placement`: who chooses a buffer's bank: interleaved (nobody), kernel (the
    design, for each argument) or host (for each buffer). `index_offset`: memories that the board's shell
    lists before them.
    """

    kind: str = ""
    placement: str = ""
    banks: int = 0
    bank_bytes: int = 0
    index_offset: int = 0

    def bank(self, number: int) -> int:
        """The number modulo what there is."""
        return number % self.banks


@dataclass(frozen=True)
class Kernel:
    """An entry point and how many copies of it there are. `buffers`: the banks of each argument in global
    memory, one a copy; none where it lies anywhere. `memories`: by copy, where the design has several kinds
    of memory, what all of its arguments are linked to. `arguments`: all, with their kinds, in order."""

    name: str
    is_replicated: bool
    copies: int
    buffers: Mapping[str, tuple[int, ...]]
    memories: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Design:
    """All of it. `definitions`: of the build, by name; options of OpenCL's compiler begin with "-".
    `parameters`: those of the build, which the sidecar of the bitstream says. `board`: its id, and
    `bitstream`: FILE/NAME of the one that it is built as; "" where nothing says so. Of that one `clock_hz` is
    the clock that it reached (0: not known), and `tools` what made it, in words. `hls`: the source in HLS
    C++, where there is one; `is_sycl`: whether its OpenCL C is SYCL C++, too; channels are pipes there.
    `language`: of `source`, one of LANGUAGES. `engine`: the transport of the engine of ACCL that is linked
    with the kernels; "" for none."""

    benchmark: str
    variant: str
    source: Path
    parameters: Mapping[str, object]
    definitions: Mapping[str, str]
    kernels: tuple[Kernel, ...]
    memory: Memory
    uses_channels: bool
    board: str = ""
    bitstream: str = ""
    clock_hz: float = 0
    tools: str = ""
    hls: Path | None = None
    language: str = OPENCL
    engine: str = ""
    is_sycl: bool = False

    def in_language(self, language: str) -> "Design":
        """The same from sources of another language. Raises FabricmarkError (2) where there are none."""
        check_known(language, [*LANGUAGES], f"there is no language {language}")
        if language == self.language:
            return self
        if language == SYCL and self.is_sycl and self.language == OPENCL:
            return replace(self, language=language)
        if language != HLS or self.hls is None:
            cause = f"{self.benchmark}'s variant {self.variant} is not written in {LANGUAGES[language]}"
            raise FabricmarkError(cause, "leave out --language")
        return replace(self, language=language, source=self.hls)

    def macros(self) -> list[str]:
        """The preprocessor's definitions as options, without the copies; for OpenCL C its compiler's, too."""
        return [
            name if name.startswith("-") else f"-D{name}={value}"
            for name, value in self.definitions.items()
            if name != REPLICATIONS.upper() and not (name.startswith("-") and self.language == HLS)
        ]

    def sidecar(self, tools: str = "") -> str:
        """What the programs read beside it (docs/platforms.md); `tools`: what makes it, in words."""
        known = {"benchmark": self.benchmark, "variant": self.variant, "board": self.board, "tools": tools}
        known |= {"bitstream": self.bitstream}
        known |= {"language": LANGUAGES[self.language] if self.language != OPENCL else ""}
        lines = [f"{name} = {toml_value(value)}" for name, value in known.items() if value] + ["[parameters]"]
        lines += [f"{name} = {toml_value(value)}" for name, value in self.parameters.items()]
        if self.engine:
            linked = {"transports": [self.engine], "modes": accl.modes(self.benchmark)}
            lines += ["[engine]", *(f"{name} = {toml_value(value)}" for name, value in linked.items())]
        return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """A value of a sidecar as TOML has it."""
    if isinstance(value, str):
        # A string of JSON is one of TOML, but for the delete character; names come from reports of others.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {toml_value(one)}" for name, one in value.items()) + " }"
    return kernels.text(value)


def resolve(
    benchmark: str, variant: str, system: str | None, bitstream_id: str | None, given: Mapping[str, str],
    board: str | None = None, transport: str | None = None,
) -> Design:  # fmt: skip
    """The design for a board of a system, or without one, as the programs would resolve it.

    Raises FabricmarkError (2) for what there is not or what the constraints refuse.
    """
    kernels.check_benchmark(benchmark)
    has_protocols = transport is not None and "transport" in kernels.kernel(benchmark).parameters
    over = {"transport": transport} if has_protocols else {}
    if system is None:
        choice.check_needs_system(bitstream_id, board)
        request = kernels.wanted(benchmark, FPGA, {**over, **given}, variant=variant)
        return _made(benchmark, kernels.ask([request])[0], Memory())
    wanted = choice.Wanted(system, board, bitstream_id, transport)
    bitstream_id = choice.bitstream_of(benchmark, wanted, variant)
    given = given if bitstream_id is not None else {**over, **given}
    document = export.document(system, board=board)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{document['name']}.json".replace("/", "_")
        paths.write_atomically(file, export.written(document))
        more = {"variant": variant, "system": str(file), "bitstream_id": bitstream_id}
        own = _bitstream(document, benchmark, bitstream_id, variant) if bitstream_id else {}
        is_engines = accl.is_linked(benchmark, own.get("transport"))
        asked = {"transport": own["transport"], **given} if is_engines else given
        (answer,) = kernels.answers([kernels.wanted(benchmark, FPGA, asked, **more)])
        if "error" in answer:  # the user knows the system, not the file that stood for it
            error = {name: text.replace(str(file), system) if isinstance(text, str) else text
                     for name, text in answer["error"].items()}  # fmt: skip
            kernels.refused({"error": error})
    chosen = _bitstream(document, benchmark, bitstream_id, answer["variant"])
    device = _board(document, chosen)
    own = chosen.get("parameters", {}) | {"transport": chosen.get("transport")}
    is_changed = any(str(own.get(name)) != value for name, value in given.items())
    unchanged = {} if is_changed else chosen
    return replace(
        _made(benchmark, answer, _memory(device)),
        board=device["id"],
        bitstream=unchanged.get("id", ""),
        clock_hz=unchanged.get("values", {}).get("kernel_hz", {}).get("value", 0),
        tools=chosen.get("tools", ""),
    )


def touching(system: str | None, board: str | None, given: Mapping[str, str]) -> Design:
    """The kernel TOUCH, with a copy for each memory that MEMORIES of `given` names; by default the board's.

    Raises FabricmarkError (2).
    """
    memory, board_id = Memory(), ""
    if system is None:
        choice.check_needs_system(None, board)
    else:
        device = _board(export.document(system, board=board), {})
        memory, board_id = _memory(device), device["id"]
    letters = given.get(MEMORIES, "B" if memory.kind == "hbm" else "D")
    if not letters or len(set(letters)) < len(letters) or not set(letters) <= LINKED.keys():
        remedy = f"write some of {', '.join(LINKED)}, as {MEMORIES}={''.join(LINKED)}"
        raise FabricmarkError(f"{MEMORIES}={letters}: no memories of a board", remedy)
    linked = tuple(LINKED[one] for one in letters)
    kernel = Kernel(TOUCH, False, len(letters), {"bytes": ()}, linked, (("bytes", "buffer"),))
    source = paths.kernels() / "common" / f"{TOUCH}.cl"
    return Design(TOUCH, "base", source, {}, {}, (kernel,), memory, False, board_id)


def _bitstream(document: Mapping, benchmark: str, bitstream_id: str | None, variant: str) -> Mapping:
    """Which one the answer is about; empty for none."""
    for one in document["bitstreams"]:
        named = one["id"] == bitstream_id if bitstream_id is not None else one["variant"] == variant
        if one["benchmark"] == benchmark and named:
            return one
    return {}


def _board(document: Mapping, bitstream: Mapping) -> Mapping:
    """The one that the bitstream is for; without one the first. Raises FabricmarkError (2) for no FPGA."""
    boards = {one["id"]: one for one in document["devices"]}
    board = boards[bitstream["device"]] if bitstream else document["devices"][0]
    if board["class"] != FPGA:
        raise FabricmarkError(f"{board['name']} is no FPGA", "name a system whose boards are")
    return board


def _memory(board: Mapping) -> Memory:
    memory = board.get("memory", {})
    banks = int(board["values"]["banks"]["value"])
    bank_bytes = int(board["values"].get("memory_bytes", {"value": 0})["value"]) // max(banks, 1)
    offset = memory.get("index_offset", 0)
    return Memory(memory.get("kind", ""), memory.get("placement", ""), banks, bank_bytes, offset)


def _with_engine(benchmark: str, answer: Mapping, memory: Memory) -> Design:
    """Dataflow kernels, whose streams end at those of ACCL's engine."""
    spec, values = kernels.kernel(benchmark), answer["parameters"]
    source = paths.kernels() / benchmark / spec.variants[answer["variant"]]["file"]
    known = accl.signatures(source)
    made = [
        Kernel(name, False, len(of), {argument: () for argument in known[name].memory})
        for name, of in accl.units(benchmark).items()
    ]
    # A source takes the parameters of its build from the command line, whichever of them stand in its table.
    of_build = {name for name, one in spec.parameters.items() if one.stage == "build"}
    sized = {name: value for name, value in values.items() if name in PARTITION}
    more = {name.upper(): str(value) for name, value in sized.items()}
    return Design(
        benchmark, answer["variant"], source,
        {name: value for name, value in values.items() if name in of_build} | sized,
        {**more, **answer["definitions"]}, tuple(made), memory, False,
        language=HLS, engine=values["transport"],
    )  # fmt: skip


def _made(benchmark: str, answer: Mapping, memory: Memory) -> Design:
    spec = kernels.kernel(benchmark)
    variant = spec.variants[answer["variant"]]
    if variant["style"] == DATAFLOW and accl.is_linked(benchmark, answer["parameters"].get("transport")):
        return _with_engine(benchmark, answer, memory)
    if variant["style"] != STYLE:
        single = [name for name, one in spec.variants.items() if one["style"] == STYLE]
        remedy = f"use --variant {' or '.join(single)}" if single else "build it as docs/platforms.md shows"
        cause = f"{benchmark}'s variant {answer['variant']} is {variant['style']}"
        if variant["style"] == DATAFLOW:  # which output of which kernel another one's input is
            with_engine = accl.networks_of(benchmark)
            remedy += f", or --transport {' or '.join(with_engine)}" if with_engine else ""
            remedy += ", or build it by hand (docs/platforms.md): no file says how its streams are joined"
        raise FabricmarkError(cause, remedy)
    values, of_transport = answer["parameters"], answer["parameters"].get("transport")
    entries = []
    for entry in answer["entry_points"]:
        copies = int(values[REPLICATIONS]) if entry["replicated"] else 1
        buffers = {one["name"]: tuple(one["banks"]) for one in entry["arguments"] if one["kind"] == "buffer"}
        arguments = tuple((one["name"], one["kind"]) for one in entry["arguments"])
        entries.append(Kernel(entry["name"], entry["replicated"], copies, buffers, arguments=arguments))
    of_build = {name for name, one in spec.parameters.items() if one.stage == "build"}
    of_build |= {REPLICATIONS} if variant["replicated"] else set()
    # The variant for it has its name.
    has_channels = transports.between_streams(of_transport) and answer["variant"] == of_transport
    return Design(
        benchmark,
        answer["variant"],
        paths.kernels() / benchmark / variant["file"],
        {name: value for name, value in values.items() if name in of_build},
        answer["definitions"],
        tuple(entries),
        memory,
        has_channels,
        hls=paths.kernels() / benchmark / variant["hls"] if variant["hls"] else None,
        is_sycl=variant["sycl"] or has_channels,
    )
