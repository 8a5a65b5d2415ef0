"""Each benchmark and call on each shipped system without a further option: it is played, or its remedy is."""

import re
from dataclasses import replace

import pytest
from conftest import REPOSITORY
from fabricmark import models, systems
from fabricmark.models.machine import DIRECT
from fabricmark.predict import cables
from fabricmark.predict.cables import OPERATIONS, Call, Setting
from fabricmark.predict.closed_form import EXCHANGE
from fabricmark.simulate import calls
from thinned import some_of

SKELETONS = sorted(models.skeletons())
EXAMPLES = [f"docs/examples/applications/{name}.toml" for name in ("fft", "stencil")]
NAMES = systems.names()
CIRCUITS = {name: systems.load(name).networks["channels"] for name in ("arria10_ring", "cygnus", "noctua1")}
# What is small enough to be played in a moment, of parameters that a skeleton has.
SMALL = {"n": 4096, "steps": 10, "width": 512, "height": 512, "elements": 1e4}


def played_or_remedied(run, one_error_line, *words):
    """What the command says, or after the words that its one line names."""
    done = run("simulate", *words, "--no-simgrid")
    if done.returncode == 0:
        return done.stdout
    (remedy,) = re.findall(r"; use (--\S+ \S+)", one_error_line(done, 2))
    again = run("simulate", *words, *remedy.split(), "--no-simgrid")
    assert again.returncode == 0, (remedy, again.stderr)
    return again.stdout


@pytest.mark.parametrize(("call", "system"), some_of([*SKELETONS, *OPERATIONS, *EXAMPLES], NAMES))
def test_usual_values_are_played(run, one_error_line, call, system):
    small = [] if call == "barrier" else ["--bytes", "4KiB"]
    if call in (*SKELETONS, *EXAMPLES):
        text = (models.skeletons().get(call) or REPOSITORY / call).read_text()
        known = [name for name in SMALL if re.search(rf"(?m)^{name} =", text)]
        small = [word for name in known for word in ("--set", f"{name}={SMALL[name]}")]
    about = str(REPOSITORY / call) if call in EXAMPLES else call
    said = played_or_remedied(run, one_error_line, about, "--system", system, *small)
    assert "own network" in said


@pytest.mark.full
@pytest.mark.parametrize("system", NAMES)
@pytest.mark.parametrize("call", SKELETONS)
def test_nothing_has_to_be_made_smaller(run, call, system):
    done = run("simulate", call, "--system", system, "--no-simgrid")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", cables.EXCHANGES)
@pytest.mark.parametrize("system", CIRCUITS)
def test_circuits_lie_as_messages_need_them(run, kind, system):
    network = CIRCUITS[system]
    wired = cables.wiring(network, {kind})
    assert network.kind == DIRECT and (wired or "ring").startswith(cables.CIRCUITS[kind])
    words = ("simulate", EXCHANGE, "--system", system, "--bytes", "4KiB", "--algorithm", kind, "--no-simgrid")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert (f"circuits: {wired}" in done.stdout) == (wired != network.topology)


@pytest.mark.parametrize("kind", cables.EXCHANGES)
@pytest.mark.parametrize("ranks", [2, 4, 6, 9, 16, 36])
def test_exchanges_over_circuits_are_their_closed_form(of_the_repository, kind, ranks):
    """Each neighbour has a cable of its own, where it is not next and previous one."""
    rows = cables.rows_of(ranks)
    if kind == cables.TRANSPOSE and rows**2 != ranks:
        return
    for network in CIRCUITS.values():
        place = Setting(ranks, cables.wiring(replace(network, topology=""), {kind}))
        (found,) = calls.simulate(Call(EXCHANGE, 1 << 16, kind, rows=rows), [place], network)
        assert found.shared == pytest.approx(found.closed, rel=1e-3)


def test_what_the_user_says_lies_there(run, one_error_line):
    """The last rank of a row of a torus is no neighbour of the first one of the next."""
    words = ("simulate", EXCHANGE, "--system", "cygnus", "--topology", "torus", "--no-simgrid")
    said = one_error_line(run(*words), 2)
    assert "no circuit of torus:8x8 leads" in said and "such as full-mesh" in said
    assert run(*words[:-2], "full-mesh", "--bytes", "4KiB", "--no-simgrid").returncode == 0


def test_rows_of_a_torus_of_circuits_are_rings(run, tmp_path):
    """A chain of 4 ranks in each row passes the message on over three cables."""
    file = tmp_path / "rows.toml"
    file.write_text(
        'name = "a"\n[[phases]]\nname = "b"\ncollective = "broadcast"\nover = "rows"\nbytes = "1 MB"\n'
    )
    words = ("simulate", str(file), "--system", "noctua1", "--ranks", "8", "--no-simgrid", "--csv", "-")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    (time,) = re.findall(r"(?m)^.*own network,([0-9.e+-]+)", done.stdout)
    rate = CIRCUITS["noctua1"]["links.bandwidth"]
    assert float(time) * 1e-6 > 1e6 / rate
    assert run(*words, "--topology", "ring").returncode == 2


def test_transpositions_have_a_square_of_ranks():
    for devices, square, most in ((1024, 64, 64), (48, 36, 48), (12, 9, 12), (4, 4, 4)):
        assert cables.usual_ranks(devices, {cables.TRANSPOSE}) == square
        assert cables.usual_ranks(devices, {cables.RING}) == most
