"""Through how many files a message of b_eff goes, from the benchmark's call to the wire.

Who follows a message through the sources reads these files. Each step names a function and what it calls
next, and both must stand in the file: a layer put in between breaks the step above it, and shows in the
count. A call also goes through queues, of kernels that are to run or of events: their files are named but not
counted, as they know nothing of messages, which is checked too. `python tests/python/test_message_paths.py`
prints the ways.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
MOST_LINES = 600
KNOWS = r"\b(accl|Letter|Message|Messages|Payload)\b"  # who knows of what is in flight
KERNELS = ("host.hpp", "host.cpp", "starting.cpp", "worker.hpp", "worker.cpp", "kernel.cpp", "fiber.cpp")
KERNELS = tuple(f"board/dataflow/{name}" for name in KERNELS)
STREAM = ("board/dataflow/stream.hpp", "board/dataflow/channel.hpp", "board/dataflow/channel.cpp")
EVENTS = ("network/event_core.hpp", "network/event_core.cpp")


@dataclass(frozen=True)
class Step:
    """A function of a file, by how its definition begins, and its code that hands the message on."""

    file: str
    function: str
    calls: str
    queue: tuple[str, ...] = ()  # files between this step and the next one
    takes: str = ""  # by the next step, where the call does not name its function


# Ranks that are processes, as `host` goes for messages whose copies and transfers overlap.
HOST = (
    Step("benchmarks/b_eff/b_eff.cpp", "void execute(", "series_.exchange("),
    Step("benchmarks/b_eff/series.cpp", "void Series::exchange(", "transport_.exchange("),
    Step("transport/transport.hpp", "void exchange(", "start("),
    Step("transport/host/host_transport.cpp", "device::Event HostTransport::start(", "transfer->start("),
    Step("transport/transfer.cpp", "void Transfer::start(", "has_ended("),
    Step("transport/transfer.cpp", "bool Transfer::has_ended(", "advance("),
    Step("transport/host/staged_transfer.cpp", "bool StagedTransfer::advance(", "messages_.send("),
    Step("transport/messages.cpp", "std::size_t Messages::send(", "ranks_.start_send("),
    Step("runtime/communicator_mpi.cpp", "Request start_send(", "start_pieces("),
    Step("runtime/communicator_mpi.cpp", "Request start_pieces(", "start_piece("),
    Step("runtime/communicator_mpi.cpp", "Request start_piece(", "MPI_Isend("),
)
# A send of a host, in packets of UDP over the emulated network.
ACCL_UDP = (
    Step("benchmarks/b_eff/engine_execution.cpp", "void call_from_host(", "board_.engine().start("),
    Step("board/accl/accl.cpp", "Request Accl::start(", "caller->run(", queue=KERNELS),
    Step("board/accl/caller.cpp", "Result Caller::run(", "carry_out("),
    Step("board/accl/caller.cpp", "void Caller::carry_out(", "send("),
    Step("board/accl/caller.cpp", "void Caller::send(", "leave("),
    Step("board/accl/caller.cpp", "void Caller::leave(", "engine_.start_send("),
    Step("board/accl/engine.cpp", "Engine::TicketId Engine::start_send(", "post("),
    Step("board/accl/engine.cpp", "void Engine::post(", "fabric_.network().send("),
    Step("board/dataflow/network.cpp", "std::uint64_t Network::send(", "outboxes_", takes="take_sent"),
    Step("board/dataflow/fabric.cpp", "Report Fabric::run(", "network_->put("),
    Step("board/dataflow/network.cpp", "void Network::put(", "stack_->send("),
    Step("network/stack/packet_stack.cpp", "void PacketStack::send(", "::on_begun>(", queue=EVENTS),
    Step("network/stack/packet_stack.cpp", "void PacketStack::on_begun(", "on_message("),
    Step("network/stack/udp_stack.cpp", "void on_message(", "send_next("),
    Step("network/stack/udp_stack.cpp", "void UdpStack::send_next(", "transmit("),
    Step("network/stack/packet_stack.cpp", "void PacketStack::transmit(", "network_.inject("),
    Step("network/packet_network.cpp", "void PacketNetwork::inject(", "::on_injected>(", queue=EVENTS),
    Step("network/packet_network.cpp", "void PacketNetwork::on_injected(", "serve("),
    Step("network/packet_network.cpp", "void PacketNetwork::serve(", "send("),
    Step("network/packet_network.cpp", "void PacketNetwork::send(", "out.is_busy = true"),
)
# The same asked for by a kernel, whose command becomes a call.
FROM_KERNEL = (
    Step("../kernels/b_eff/dataflow.cpp", "void call_engine(", "commands.write(", STREAM, "commands.read"),
    Step("board/accl/accl.cpp", "void Accl::connect_logic(", "serve_logic("),
    Step("board/accl/accl.cpp", "void Accl::serve_logic(", "caller->run(", queue=KERNELS),
    Step("board/accl/caller.cpp", "Result Caller::run(", "run("),
    *ACCL_UDP[2:],
)
WAYS = {"host": HOST, "accl-udp": ACCL_UDP, "accl-udp from a kernel": FROM_KERNEL}
MOST_FILES = {"host": 8, "accl-udp": 9, "accl-udp from a kernel": 9}


def files(steps):
    """Those that the message goes through, each once, as it meets them."""
    return list(dict.fromkeys(step.file for step in steps))


def queues(steps):
    return list(dict.fromkeys(file for step in steps for file in step.queue))


def body(text, function):
    """The code between the braces of all definitions that begin so."""
    found = ""
    for match in re.finditer(rf"(?m)^ *{re.escape(function)}", text):
        begin = re.compile(r"[{;]").search(text, match.end())
        if begin is None or begin[0] == ";":
            continue
        depth, end = 1, begin.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found += text[begin.end() : end - 1]
    return found


def name(code):
    """Of the function in the code of a call or the beginning of a definition."""
    return re.findall(r"\w+", code)[-1]


def faults(steps, read):
    """What the sources say otherwise, a line each."""
    found = []
    for step in steps:
        code = body(read(step.file), step.function)
        if not re.search(rf"\b{re.escape(step.calls)}", code):
            found.append(f"{step.file}: {step.function}...) has no {step.calls}")
    for step, following in pairwise(steps):
        if step.takes:
            if f"{step.takes}(" not in body(read(following.file), following.function):
                found.append(f"{following.file}: {following.function}...) has no {step.takes}(")
        elif name(step.calls) != name(following.function):
            found.append(f"{step.file}: {step.calls} is no call of {following.function}")
    found += [f"{file} knows of messages" for file in queues(steps) if re.search(KNOWS, read(file))]
    return found


def read(file):
    return (SOURCES / file).read_text()


@pytest.mark.parametrize("way", WAYS)
def test_a_message_goes_through_few_files_of_readable_length(way):
    assert not faults(WAYS[way], read)
    assert len(files(WAYS[way])) <= MOST_FILES[way]
    assert not [file for file in files(WAYS[way]) if read(file).count("\n") > MOST_LINES]


def test_a_layer_in_between_shows():
    def layered(file):
        return read(file).replace("ranks_.start_send(", "layer_.send(")

    assert faults(HOST, layered) == [
        "transport/messages.cpp: std::size_t Messages::send(...) has no ranks_.start_send("
    ]


def test_a_way_that_leaves_out_a_function_is_refused():
    left_out = "transport.hpp"
    assert faults([step for step in HOST if left_out not in step.file], read) == [
        "benchmarks/b_eff/series.cpp: transport_.exchange( is no call of device::Event HostTransport::start("
    ]


if __name__ == "__main__":
    for way, steps in WAYS.items():
        print(f"{way}: {len(files(steps))} files")
        for file in files(steps):
            print(f"  {file}: {read(file).count(chr(10))} lines")
        for file in queues(steps):
            print(f"  (a queue: {file})")
