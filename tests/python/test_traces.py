"""`fabricmark simulate FILE.trace`: traces as libfabricmark-record writes them, whole and damaged."""

import copy
import json
import re
from random import Random

import pytest
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.predict.cables import Setting
from fabricmark.simulate import open_mpi, parts, replay, scaling, simgrid, trace
from fabricmark.simulate.scaling import Scaled

NONE = -1
ROUNDS, SIZE = 50, 8192
COMPUTE = 0.25  # seconds of each rank


def kind(
    call, communicator=0, to=NONE, tag=0, sent=0, source=NONE, source_tag=0, room=0, slot=NONE, varies=0
):
    return [call, communicator, to, tag, sent, source, source_tag, room, slot, varies]


def rank_of(number, size=SIZE, rounds=ROUNDS, compute=COMPUTE):
    """An exchange with the other of two ranks, and a sum, again and again."""
    other = 1 - number
    return {
        "rank": number, "seconds": 1.0, "calls": 4 * rounds + 1, "left_out": 0, "unmodelled": {},
        "communicators": {"0": [0, 1]},
        "kinds": [
            kind("MPI_Irecv", source=other, source_tag=7, room=size, slot=0),
            kind("MPI_Send", to=other, tag=7, sent=size),
            kind("MPI_Wait", NONE, slot=0),
            kind("MPI_Allreduce", sent=8),
            kind("MPI_Finalize", NONE),
        ],
        "steps": [[0, compute, 0.1], [1, 0, 0.1], [2, 0, 0.1], [3, 0, 0.1], [-4, rounds], [4, 0.0, 0.0]],
    }  # fmt: skip


def document(**more):
    head = {"fabricmark_trace": 1, "ranks": 2, "host": "h", "command": "c", "library": "l", "created": "d"}
    return [head, rank_of(0, **more), rank_of(1, **more), {"end": 2}]


def written(folder, lines, name="a.trace"):
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.fixture
def refused(run, tmp_path):
    """The one line that a trace ends the command with."""

    def line(lines, *words):
        done = run("simulate", written(tmp_path, lines), "--system", "noctua1", "--no-simgrid", *words)
        assert done.returncode == 2 and not done.stdout, done.stdout + done.stderr
        (found,) = done.stderr.splitlines()
        return found

    return line


def test_a_whole_trace(run, tmp_path):
    file = written(tmp_path, document())
    words = ["simulate", str(file), "--system", "noctua1", "--csv", "-", "--no-simgrid"]
    done = run(*words)
    assert done.returncode == 0, done.stderr

    def seconds(text):
        return float(re.search(r"a\.trace.*own network,([^,]+),us", text)[1]) / 1e6

    whole = seconds(done.stdout)
    # The computation, and 50 times an exchange and a sum over 40 Gb/s.
    assert COMPUTE + ROUNDS * (SIZE / 5e9 + 2 * 0.5e-6) < whole < COMPUTE + ROUNDS * 20e-6
    half = seconds(run(*words, "--compute-scale", "0.5").stdout)
    assert whole - half == pytest.approx(COMPUTE / 2)
    one = seconds(run(*words, "--compute-scale", "0.5,1").stdout)
    assert one == pytest.approx(whole, rel=1e-3)
    said = run(*words[:-3], "--no-simgrid").stdout
    assert "recorded on h: 1 s; predicted: 0.25" in said and "in calls: rank 0" in said


def test_messages_match_by_tag_and_communicator(run, tmp_path):
    """Rank 0 sends tag 1, then tag 2; rank 1 receives tag 2 first: by order alone nothing would be different,
    but computation in between is."""
    lines = document()
    lines[1]["kinds"] = [kind("MPI_Send", to=1, tag=1, sent=8), kind("MPI_Send", to=1, tag=2, sent=8)]
    lines[1]["steps"] = [[0, 0, 0], [1, 0.5, 0]]
    lines[2]["kinds"] = [
        kind("MPI_Recv", source=0, source_tag=2, room=8), kind("MPI_Recv", source=0, source_tag=1, room=8)
    ]  # fmt: skip
    lines[2]["steps"] = [[0, 0, 0], [1, 0.5, 0]]
    file = written(tmp_path, lines)
    done = run("simulate", str(file), "--system", "noctua1", "--csv", "-", "--no-simgrid")
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"own network,([^,]+),us", done.stdout)[1]) == pytest.approx(1e6, rel=1e-3)


def test_receives_from_anybody_come_from_whom_they_came(run, tmp_path):
    lines = document()
    lines[1]["kinds"][0] = kind("MPI_Irecv", room=SIZE, slot=0)
    lines[1]["kinds"][2] = kind("MPI_Wait", 0, source=1, source_tag=7, room=SIZE, slot=0)
    done = run("simulate", str(written(tmp_path, lines)), "--system", "noctua1", "--no-simgrid")
    assert done.returncode == 0, done.stderr


def _without_rank(lines):
    del lines[2]


def _twice(lines):
    lines[2] = lines[1]


def _cut(lines):
    del lines[3]


def _version(lines):
    lines[0]["fabricmark_trace"] = 9


def _unmatched(lines):
    lines[1]["steps"][1][0] = 3


def _more_receives(lines):
    lines[2]["steps"][4] = [-4, ROUNDS]
    lines[2]["steps"].insert(0, [0, 0, 0])


def _wrong_size(lines):
    lines[2]["kinds"][3][4] = 16


def _no_room(lines):
    lines[1]["kinds"][0][7] = 8


def _left_out(lines):
    lines[2]["left_out"] = 5


def _loop(lines):
    lines[1]["steps"][4] = [-40, ROUNDS]


def _no_kind(lines):
    lines[1]["steps"][1][0] = 99


def _negative(lines):
    lines[1]["steps"][1][1] = -1


def _stranger(lines):
    lines[1]["kinds"][1][2] = 5


def _other_communicator(lines):
    lines[1]["kinds"][3][1] = 3


def _other_members(lines):
    lines[2]["communicators"]["0"] = [1, 0]


def _no_call(lines):
    lines[1]["kinds"][3][0] = "MPI_Fly"


def _no_trace(lines):
    lines[0] = {"a": 1}


def _one_rank(lines):
    lines[0]["ranks"] = 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_without_rank, "rank 1 is missing"),
        (_twice, "rank 0 is there twice"),
        (_cut, "is cut off behind line 3"),
        (_version, "is a trace of version 9, and 1 to 2 are read"),
        (
            _unmatched,
            "rank 1, MPI_Irecv: receives 50 messages of rank 0 (communicator 0, tag 7), which sends 0",
        ),
        (_more_receives, "rank 1, MPI_Irecv: receives 51 messages of rank 0"),
        (
            _wrong_size,
            "rank 1, MPI_Allreduce of 16 B: called 50 times in communicator 0, and 0 times by rank 0",
        ),
        (
            _no_room,
            "rank 0, MPI_Irecv: has room for 8 B of rank 1 (communicator 0, tag 7), which sends 8192 B",
        ),
        (_left_out, "rank 1: 5 calls were left out"),
        (_loop, "rank 0: step 4: the length of a loop is -40"),
        (_no_kind, "rank 0: step 1 is 99, not from 0 to 4"),
        (_negative, "rank 0: MPI_Send (step 1): time is -1"),
        (_stranger, "rank 0: MPI_Send: rank 5 is not in communicator 0"),
        (_other_communicator, "rank 0: MPI_Allreduce: there is no communicator 3"),
        (_other_members, "rank 1: communicator 0 has other ranks than for rank 0"),
        (_no_call, "rank 0: ['MPI_Fly'"),
        (_no_trace, "is no trace"),
        (_one_rank, "a trace of 1 ranks"),
    ],
)
def test_damaged_traces(damage, said, tmp_path):
    lines = copy.deepcopy(document())
    damage(lines)
    with pytest.raises(FabricmarkError) as raised:
        trace.read(written(tmp_path, lines))
    assert said in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_damaged_trace_ends_the_command_with_one_line(refused):
    lines = document()
    del lines[2]
    assert "rank 1 is missing; record it again with `fabricmark record`" in refused(lines)


def test_calls_in_another_order_are_named_where_they_wait(refused):
    """Each rank has what the other has, and waits for it before it sends."""
    lines = document()
    for line, other in ((lines[1], 1), (lines[2], 0)):
        line["kinds"] = [
            kind("MPI_Recv", source=other, source_tag=1, room=8), kind("MPI_Send", to=other, tag=1, sent=8)
        ]  # fmt: skip
        line["steps"] = [[0, 0, 0], [1, 0, 0]]
    assert "rank 0 waits in step" in refused(lines)


def test_any_damage_is_one_sentence(tmp_path):
    whole = written(tmp_path, document()).read_bytes()
    draw = Random(1)
    kept = 0
    for trial in range(600):
        text = bytearray(whole)
        if trial % 3 == 0:
            del text[draw.randrange(len(text)) :]
        for _ in range(draw.randrange(1, 4)):
            text[draw.randrange(len(text)) if text else 0 : 0] = bytes(
                draw.choices(b'0123456789-[]{}",:e', k=1)
            )
        file = tmp_path / "b.trace"
        file.write_bytes(bytes(text))
        try:
            trace.read(file)
            kept += 1
        except FabricmarkError as error:
            assert "\n" not in str(error) and error.exit_code == 2
    assert kept < 300


def test_options_that_do_not_fit(refused, run):
    lines = document()
    for words, said in {
        ("--ranks", "4"): "--ranks 4",
        ("--bytes", "8"): "--bytes with",
        ("--compute-scale", "0"): "--compute-scale 0",
        ("--compute-scale", "1,2,3"): "3 numbers",
        ("--with", "b.trace"): "--with without --sizes",
        ("--sizes", "1,2,3"): "--with without --sizes",
    }.items():
        assert said in refused(lines, *words), words
    done = run("simulate", "all_reduce", "--system", "noctua1", "--compute-scale", "2")
    assert done.returncode == 2 and "--compute-scale with all_reduce" in done.stderr


def test_another_size_follows_the_powers_of_each_call(tmp_path):
    """Computation as the square of the size, bytes as the size: from 100 and 200 to 400."""
    small, large = (
        trace.read(written(tmp_path, document(size=8 * n, compute=1e-6 * n * n), f"{n}.trace"))
        for n in (100, 200)
    )
    scaled, (line,) = scaling.at_size(large, small, [200, 100, 400])
    assert "compute as size^2.00" in line and "calls as size^0.00" in line
    send = large.ranks[0].kinds[1]
    assert scaled.bytes_factor(0, send) == pytest.approx(2)
    assert scaled.compute_factor(0, large.ranks[0].kinds[0]) == pytest.approx(4)
    assert scaled.bytes_factor(0, large.ranks[0].kinds[3]) == 1  # 8 B at any size
    assert scaled.calls == 1
    # More steps at a larger size: the calls follow each other more often, with as much computation in all.
    more = trace.read(written(tmp_path, document(size=800, compute=4e-2, rounds=100), "m.trace"))
    scaled, _ = scaling.at_size(more, small, [200, 100, 400])
    assert scaled.calls == pytest.approx(2, rel=0.01)
    assert scaled.compute_factor(0, send) == 1 or scaled.compute_factor(0, more.ranks[0].kinds[0]) * 2 == (
        pytest.approx(4, rel=0.01)
    )
    with pytest.raises(FabricmarkError, match="both traces have size"):
        scaling.at_size(large, small, [100, 100, 400])


def test_computation_of_a_rank(tmp_path):
    found = trace.read(written(tmp_path, document()))
    assert found.ranks[0].compute == pytest.approx(COMPUTE)
    assert found.ranks[0].steps[0].times == ROUNDS
    assert Scaled(found, [2.0]).compute_factor(0, found.ranks[0].kinds[0]) == 2


def test_tests_of_a_rank_that_works_take_their_time(run, tmp_path):
    lines = document()
    lines[0]["fabricmark_trace"] = 2
    plain = run("simulate", written(tmp_path, lines), "--system", "noctua1", "--no-simgrid").stdout
    for one in lines[1:3]:
        one["steps"][2] += [1000 * ROUNDS, 0.5]
    found = run("simulate", written(tmp_path, lines), "--system", "noctua1", "--no-simgrid").stdout
    before, now = (float(re.search(r"predicted: ([0-9.e+-]+) s", said)[1]) for said in (plain, found))
    assert now - before == pytest.approx(0.5, rel=1e-3)
    assert "while ranks worked: 1e+05, 10 us each" in " ".join(found.split())
    over = ("--set", "network.test_latency=20us")  # each of 50 000 of a rank
    there = run("simulate", written(tmp_path, lines), "--system", "noctua1", "--no-simgrid", *over).stdout
    assert float(re.search(r"predicted: ([0-9.e+-]+) s", there)[1]) - before == pytest.approx(1.0, rel=1e-3)
    lines[1]["steps"][2][3] = -1
    done = run("simulate", written(tmp_path, lines), "--system", "noctua1", "--no-simgrid")
    assert done.returncode == 2 and "tests is -1" in done.stderr


def test_tests_grow_by_their_own_power(tmp_path):
    small, large = document(), document()
    for lines, tests in ((small, 100 * ROUNDS), (large, 400 * ROUNDS)):
        for one in lines[1:3]:
            one["steps"][2] += [tests, tests * 1e-6]
    traces = [
        trace.read(written(tmp_path, lines, name)) for lines, name in ((large, "l.trace"), (small, "s.trace"))
    ]
    scaled, _ = scaling.at_size(*traces, (2, 1, 4))
    rank = scaled.trace.ranks[0]
    (step,) = (one for one in rank.steps if one.tests)
    assert scaled.work(0, rank.kinds[step.kind], step) == pytest.approx(4 * 400e-6)


BANDWIDTH = 5e9  # of noctua1's channels [B/s]


def late_receiver(sent, late=0.5):
    """Rank 0 sends and ends; rank 1 works, then receives."""
    lines = document()
    lines[1]["kinds"] = [kind("MPI_Send", to=1, tag=1, sent=sent), kind("MPI_Finalize", NONE)]
    lines[1]["steps"] = [[0, 0, 0], [1, 0, 0]]
    lines[2]["kinds"] = [kind("MPI_Recv", source=0, source_tag=1, room=sent), kind("MPI_Finalize", NONE)]
    lines[2]["steps"] = [[0, late, 0], [1, 0, 0]]
    return lines


def played(folder, lines):
    """Over noctua1's channels."""
    network = systems.load("noctua1", "fitted").networks["channels"]
    (found,) = replay.replay(Scaled(trace.read(written(folder, lines))), [Setting(2, "pair")], network)
    return found


@pytest.mark.parametrize(("sent", "waits"), [(65536, False), (65537, True)])
def test_a_late_receiver_delays_its_sender_above_the_eager_limit(tmp_path, sent, waits):
    found = played(tmp_path, late_receiver(sent))
    first, second = found.about["ends"]
    assert (first >= 0.5) == waits and second >= 0.5
    if waits:  # the message leaves when it is asked for
        assert first == pytest.approx(0.5 + sent / BANDWIDTH, abs=2e-6) and first == second
    else:
        assert first < 1e-4 and second == pytest.approx(0.5)
    seconds, said = simgrid.seconds(found.request)
    if seconds is not None:
        assert seconds == pytest.approx(found.shared, rel=1e-6), said


def test_messages_above_and_below_the_limit_keep_their_order(tmp_path):
    """Long and short ones by turns, whose receiver is late: each comes to the receive that is its own."""
    lines = late_receiver(8)
    lines[1]["kinds"] = [
        kind("MPI_Isend", to=1, tag=1, sent=10**6, slot=0), kind("MPI_Isend", to=1, tag=1, sent=8, slot=1),
        kind("MPI_Wait", NONE, slot=0), kind("MPI_Wait", NONE, slot=1),
    ]  # fmt: skip
    lines[1]["steps"] = [[0, 0, 0], [1, 0, 0], [3, 0, 0], [2, 0, 0], [-4, 3]]
    lines[2]["kinds"] = [kind("MPI_Recv", source=0, source_tag=1, room=10**6)]
    lines[2]["steps"] = [[0, 0.5, 0], [-1, 6]]
    found = played(tmp_path, lines)
    # Rank 1 receives 0.5/6 s apart; the third long one is asked for 4/6 of 0.5 s after the first, and comes.
    first, _ = found.about["ends"]
    assert first == pytest.approx(0.5 / 6 * 5 + 3 * 10**6 / BANDWIDTH, rel=1e-3)
    seconds, said = simgrid.seconds(found.request)
    if seconds is not None:
        assert seconds == pytest.approx(found.shared, rel=1e-3), said


def test_the_networks_file_says_the_limit(run, tmp_path, one_error_line):
    file = written(tmp_path, late_receiver(9000))
    words = ("simulate", file, "--system", "noctua1", "--no-simgrid")
    assert "messages of more than 65536 B wait" in " ".join(run(*words).stdout.split())
    over = " ".join(run(*words, "--set", "network.eager_limit=8KiB").stdout.split())
    assert "more than 8192 B wait for their receivers (as the network's file has it)" in over
    # Both send first: MPI without buffers for them waits for ever.
    lines = document(size=10**6)
    for line, other in ((lines[1], 1), (lines[2], 0)):
        line["kinds"] = [
            kind("MPI_Send", to=other, tag=1, sent=10**6),
            kind("MPI_Recv", source=other, source_tag=1, room=10**6),
        ]
        line["steps"] = [[0, 0, 0], [1, 0, 0]]
    done = run("simulate", written(tmp_path, lines), *words[2:])
    assert "rank 0 waits in step 1 until rank 1 asks for a message above 65536 B" in one_error_line(done, 2)
    done = run("simulate", written(tmp_path, lines), *words[2:], "--set", "network.eager_limit=1MiB")
    assert done.returncode == 0, done.stderr


def test_receives_from_anybody_begin_where_the_program_begins_them(tmp_path):
    """Both receive from anybody, send what is long, and wait: no rank waits for the other's wait."""
    size = 10**6
    lines = document(size=size)
    for line, other in ((lines[1], 1), (lines[2], 0)):
        line["kinds"][0] = kind("MPI_Irecv", room=size, slot=0)
        line["kinds"][2] = kind("MPI_Wait", 0, source=other, source_tag=7, room=size, slot=0)
    found = played(tmp_path, lines)
    assert found.shared == pytest.approx(COMPUTE + ROUNDS * size / BANDWIDTH, rel=1e-2)
    assert set(replay.sources(trace.read(written(tmp_path, lines)).ranks[0])) == {0, 2}


def test_a_receive_whose_waits_differ_begins_with_its_wait(tmp_path):
    """Begun in the turn before: the wait of the next turn knows another tag than that behind the loop."""
    lines = document()
    lines[1]["kinds"][0] = kind("MPI_Irecv", room=SIZE, slot=0)
    lines[1]["kinds"][2] = kind("MPI_Wait", 0, source=1, source_tag=7, room=SIZE, slot=0)
    lines[1]["kinds"].append(kind("MPI_Wait", 0, source=1, source_tag=8, room=SIZE, slot=0))
    lines[1]["steps"] = [[0, 0, 0], [2, 0, 0], [0, 0, 0], [-2, 9], [5, 0, 0]]
    lines[2]["kinds"] = [kind("MPI_Send", to=0, tag=7, sent=8), kind("MPI_Send", to=0, tag=8, sent=8)]
    lines[2]["steps"] = [[0, 0, 0], [-1, 9], [1, 0, 0]]
    found = trace.read(written(tmp_path, lines))
    assert replay.sources(found.ranks[0]) == {}
    assert played(tmp_path, lines).shared > 0


@pytest.fixture(scope="module")
def network():
    return systems.load("noctua1", "fitted").networks["channels"]


@pytest.fixture(scope="module")
def packets():
    return systems.load("leaf_spine", "fitted").networks["channels"]


def test_time_by_call(run, network, tmp_path, one_error_line):
    file = written(tmp_path, document())
    scaled, setting = Scaled(trace.read(file)), Setting(2, "pair")
    (plain,) = replay.replay(scaled, [setting], network)
    (found,) = replay.replay(scaled, [setting], network, by_call=True)
    assert found.shared == plain.shared
    assert found.parts == {
        "computation": 0, "MPI_Irecv": ROUNDS, "MPI_Send": ROUNDS, "MPI_Wait": ROUNDS,
        "MPI_Allreduce": ROUNDS, "MPI_Finalize": 1,
    }  # fmt: skip
    for spent, end in zip(found.about["spent"], found.about["ends"], strict=True):
        assert sum(spent) == pytest.approx(end)
    (name, share, own), *others = parts.rows(found)
    assert name == "computation" and own == pytest.approx([COMPUTE, COMPUTE])
    assert share + sum(one[1] for one in others) == pytest.approx(1)
    seconds, said = simgrid.seconds(found.request)
    assert seconds is None or seconds == pytest.approx(found.shared, rel=1e-2), said
    done = run("simulate", file, "--system", "noctua1", "--no-simgrid", "--by", "call")
    assert re.search(r"^MPI_Allreduce +50 ", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert "rank 1 [s]" in done.stdout
    for words in (("barrier", "--by", "call"), (str(file), "--by", "size")):
        assert "--by" in one_error_line(run("simulate", words[0], "--system", "noctua1", *words[1:]), 2)


def test_groups_of_ranks():
    assert [parts.words(one) for one in parts.groups(3)] == ["rank 0", "rank 1", "rank 2"]
    made = parts.groups(20)
    assert len(made) <= parts.MOST_GROUPS and [rank for one in made for rank in one] == list(range(20))
    assert parts.words(made[0]) == "ranks 0 to 2"


def test_time_by_phase_of_a_skeleton(run):
    done = run("simulate", "hpl", "--system", "leaf_spine", "--ranks", "16", "--no-simgrid", "--by", "call")
    shares = re.findall(r"^[a-z ]+ +128 +([0-9.]+) %", done.stdout, re.MULTILINE)
    assert len(shares) == 5 and sum(map(float, shares)) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize(
    ("operation", "ranks", "sent", "name"),
    [  # of coll_tuned_decision_fixed.c
        ("all_reduce", 2, 8, "doubling"), ("all_reduce", 3, 4096, "ring"),
        ("all_reduce", 7, 8192, "rabenseifner"), ("all_reduce", 64, 262143, "doubling"),
        ("all_reduce", 200, 100, "nonoverlapping"), ("all_reduce", 5000, 1 << 20, "rabenseifner"),
        ("all_to_all", 2, 32768, "linear"), ("all_to_all", 100, 1 << 20, "pairwise"),
        ("all_to_all", 40, 511, "bruck"), ("broadcast", 2, 31, "chain"), ("broadcast", 7, 8192, "linear"),
        ("broadcast", 130, 20000, "linear"), ("broadcast", 100, 20000, "tree"),
        ("broadcast", 20, 1 << 20, "scattered"), ("reduce", 3, 262143, "linear"), ("reduce", 999, 8, "tree"),
        ("reduce_scatter", 8, 262144, "ring"), ("all_gather", 2, 1 << 20, "doubling"),
        ("all_gather", 4096, 4096, "ring"), ("barrier", 4, 0, ""),
    ],
)  # fmt: skip
def test_open_mpis_decisions(operation, ranks, sent, name):
    assert open_mpi.decided(operation, ranks, sent) == name


COLLECTIVES = ("MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Scatter",
               "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter")  # fmt: skip
WITH_ROOT = ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter")


@pytest.mark.parametrize("ranks", [2, 3, 6, 8, pytest.param(16, marks=pytest.mark.full)])
def test_collectives_as_open_mpi_makes_them(packets, tmp_path, ranks):
    """Of each decision on so many ranks: it ends, with the messages that it must have."""
    sizes = [int(word) - 1 for text in open_mpi.DECISIONS.values() for word in text.split() if word.isdigit()]
    sizes = [one for one in (*sorted(set(sizes))[::3], 1 << 20) if one <= 1 << 20]
    kinds = [
        kind(call, to=1 if call in WITH_ROOT else NONE, sent=0 if call == "MPI_Barrier" else max(8, size))
        for call in COLLECTIVES
        for size in sizes
    ]
    steps = [[place, 0, 0] for place in range(len(kinds))]
    lines = [{**document()[0], "ranks": ranks}]
    for rank in range(ranks):
        who = {"rank": rank, "communicators": {"0": list(range(ranks))}}
        lines.append({**rank_of(0), **who, "kinds": kinds, "steps": steps})
    scaled = Scaled(trace.read(written(tmp_path, [*lines, {"end": ranks}])))
    setting = Setting(ranks, f"switch:{ranks}")
    (own,) = replay.replay(scaled, [setting], packets)
    (theirs,) = replay.replay(scaled, [setting], packets, choice=open_mpi.NAME)
    assert 0.1 < theirs.shared / own.shared < 10
    assert theirs.about["messages"] != own.about["messages"]
    seconds, said = simgrid.seconds(theirs.request)
    assert seconds is None or seconds == pytest.approx(theirs.shared, rel=0.5), said


def test_open_mpis_messages_at_once():
    for operation in ("all_to_all", "broadcast", "reduce"):
        sent = [(place, to) for place in range(5) for to in open_mpi.messages(operation, place, 5)[0]]
        received = [(of, place) for place in range(5) for of in open_mpi.messages(operation, place, 5)[1]]
        assert sorted(sent) == sorted(received) and len(sent) == (20 if operation == "all_to_all" else 4)


def test_algorithms_of_another_library(run, tmp_path, one_error_line):
    file = written(tmp_path, document())
    words = ("--system", "noctua1", "--no-simgrid", "--collectives")
    assert "use open-mpi" in one_error_line(run("simulate", file, *words, "mpich"), 2)
    assert "--collectives with barrier" in one_error_line(run("simulate", "barrier", *words, "open-mpi"), 2)
    assert "over circuits" in one_error_line(run("simulate", file, *words, "open-mpi"), 2)
