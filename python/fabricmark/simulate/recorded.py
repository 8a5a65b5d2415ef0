"""What options of `fabricmark simulate FILE.trace` mean, and what is said beside its times."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabricmark.base.errors import FabricmarkError
from fabricmark.base.terminal import percent
from fabricmark.models.machine import Network
from fabricmark.simulate import replay, scaling, trace
from fabricmark.simulate.calls import Found
from fabricmark.simulate.scaling import Scaled
from fabricmark.simulate.trace import ENDING, OPERATION, Trace

EAGER = "messages are sent before they are asked for"
MOST_SHOWN = 8  # ranks
LARGEST_SCALE = 1e6


@dataclass(frozen=True)
class Played:
    """A trace and how it is to be played; `said`: how its size was changed."""

    trace: Trace
    scaled: Scaled
    said: Sequence[str]


def asked(
    call: str, compute_scale: str | None, other: Path | None, sizes: str | None, ranks: int | None
) -> Played | None:
    """What options say of a trace; None where the call is none. Raises FabricmarkError (2)."""
    if not call.endswith(ENDING):
        given = {"--compute-scale": compute_scale, "--with": other, "--sizes": sizes}
        name = next((name for name, value in given.items() if value is not None), None)
        if name is not None:
            raise FabricmarkError(f"{name} with {call}", f"leave it out, or give a recorded FILE{ENDING}")
        return None
    found = trace.read(Path(call))
    if ranks not in (None, len(found.ranks)):
        raise FabricmarkError(f"--ranks {ranks}: {call} has {len(found.ranks)}", "leave it out")
    factors = [] if compute_scale is None else _numbers(f"--compute-scale {compute_scale}", compute_scale)
    if len(factors) not in (0, 1, len(found.ranks)):
        cause = f"--compute-scale has {len(factors)} numbers, and {call} {len(found.ranks)} ranks"
        raise FabricmarkError(cause, "give one for all, or one for each")
    if (other is None) != (sizes is None):
        raise FabricmarkError("--with without --sizes, or the other way", "give both, or none")
    if other is None or sizes is None:
        return Played(found, Scaled(found, factors), [])
    three = _numbers(f"--sizes {sizes}", sizes)
    if len(three) != 3:
        raise FabricmarkError(f"--sizes {sizes}", "write three: of the trace, of --with, and the wanted one")
    scaled, said = scaling.at_size(found, trace.read(other), three)
    return Played(found, replace(scaled, factors=factors), said)


def over(played: Played, network: Network) -> Played:
    """The same on a network, which may say what a test takes there."""
    return replace(played, scaled=replace(played.scaled, test=network.get("test_latency")))


def rendezvous(network: Network) -> str:
    """Which messages wait for their receivers."""
    limit = f"{replay.eager_bytes(network):.0f} B"
    source = "the network's file" if network.get(replay.EAGER) is not None else "TCP of Open MPI"
    return f"messages of more than {limit} wait for their receivers (as {source} has it)"


def _numbers(where: str, text: str) -> list[float]:
    """Above 0. Raises FabricmarkError (2)."""
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = [0.0]
    if not all(0 < one <= LARGEST_SCALE * LARGEST_SCALE for one in found):
        raise FabricmarkError(where, "write numbers above 0, with commas between")
    return found


def seconds(played: Played, found: Found) -> float:
    """Of the whole program as it was asked for: a size may have more calls than were recorded."""
    return found.shared * played.scaled.calls


def lines(played: Played, found: Sequence[Found]) -> list[str]:
    """Predicted beside recorded, what ranks spend in calls, and what is no part of the trace."""
    own, last = played.trace, found[-1]
    by_calls = [1 - (one.compute + one.testing) / one.seconds if one.seconds else 0.0 for one in own.ranks]
    said = [*played.said]
    if played.scaled.calls != 1:
        said.append(f"calls follow each other as recorded, {played.scaled.calls:.4g} times as many")
    predicted = seconds(played, last)
    ratio = f", {predicted / own.seconds:.4g} times as long" if own.seconds else ""
    said.append(f"recorded on {own.about['host']}: {own.seconds:.6g} s; predicted: {predicted:.6g} s{ratio}")
    said.append(f"in calls: {_shares(_in_calls(played, last))}; as recorded: {_shares(by_calls)}")
    tests = sum(step.tests * step.times for rank in own.ranks for step in rank.steps)
    if tests:
        each = sum(one.testing for one in own.ranks) / tests
        there = played.scaled.test
        now = "and as played" if there is None else f"and {there * 1e6:.3g} us as the network's file says"
        words = f"{tests:.4g}, {each * 1e6:.3g} us each as recorded {now}"
        said.append(f"tests that found nothing while ranks worked: {words}")
    left_out: Counter = Counter()
    for rank in own.ranks:
        left_out.update(rank.unmodelled)
    if left_out:
        words = ", ".join(f"{count} {name}" for name, count in sorted(left_out.items()))
        said.append(f"not modelled, and their time as computation: {words}")
    if not any(kind.call in OPERATION or kind.to >= 0 for rank in own.ranks for kind in rank.kinds):
        said.append(
            "no rank has sent anything by calls that are recorded: Fortran has others unless it is Open MPI's"
        )
    return said


def _in_calls(played: Played, found: Found) -> list[float]:
    """Share of each rank's time that is no computation."""
    shares = []
    for rank, end in zip(played.trace.ranks, found.about["ends"], strict=True):
        work = sum(played.scaled.work(rank.number, kind, step) * step.times for kind, step in rank.calls())
        shares.append(max(0.0, 1 - work / end) if end else 0.0)
    return shares


def _shares(shares: Sequence[float]) -> str:
    if len(shares) > MOST_SHOWN:
        return f"{percent(min(shares))} to {percent(max(shares))} of the ranks' time"
    return ", ".join(f"rank {rank} {percent(share)}" for rank, share in enumerate(shares))
