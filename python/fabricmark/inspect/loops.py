"""The loops of a function: its blocks, what begins and ends them, and which lie within others."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from fabricmark.base.grouping import grouped
from fabricmark.inspect.ir import Function, Instruction


@dataclass
class Loop:
    """`header`: the block that it is entered by, `latches`: those that go back; `number`: of metadata."""

    header: str
    latches: list[str]
    blocks: set[str]
    number: int | None
    children: list["Loop"] = field(default_factory=list)

    def instructions(self, function: Function) -> Iterator[Instruction]:
        """All of them, in the function's order."""
        for name, block in function.blocks.items():
            if name in self.blocks:
                yield from block.instructions

    def own_blocks(self) -> set[str]:
        """The blocks that lie in no loop within."""
        return self.blocks - {name for child in self.children for name in child.blocks}


def find(function: Function) -> list[Loop]:
    """The loops, outer ones before those within."""
    if not function.blocks:
        return []
    _, back = _walked(function, next(iter(function.blocks)), function.blocks)
    before = grouped((one, name) for name, block in function.blocks.items() for one in block.successors)
    found = []
    for header in dict.fromkeys(target for _, target in back):
        latches = [source for source, target in back if target == header]
        blocks, todo = {header}, list(latches)
        while todo:
            name = todo.pop()
            if name not in blocks:
                blocks.add(name)
                todo += before.get(name, [])
        last = [function.blocks[latch].instructions[-1] for latch in latches]
        number = next((one.loop for one in last if one.loop is not None), None)
        found.append(Loop(header, latches, blocks, number))
    found.sort(key=lambda loop: -len(loop.blocks))
    for place, loop in enumerate(found):
        around = [outer for outer in found[:place] if loop.blocks < outer.blocks]
        if around:
            min(around, key=lambda outer: len(outer.blocks)).children.append(loop)
    return found


def ahead(function: Function, start: str, inside: Collection[str]) -> dict[str, list[str]]:
    """The blocks from `start` on, of those `inside`, each before those that follow it, with these; no way
    back."""
    ended, back = _walked(function, start, inside)
    return {
        name: [one for one in function.blocks[name].successors if one in ended and (name, one) not in back]
        for name in reversed(ended)
    }


def _walked(
    function: Function, start: str, inside: Collection[str]
) -> tuple[dict[str, None], list[tuple[str, str]]]:
    """Depth first: the blocks in the order in which they are left, and edges to a block that is being
    visited: all loops of structured code are entered at one block."""
    ended: dict[str, None] = {}
    back = []
    open_ones = {start: iter(function.blocks[start].successors)}
    while open_ones:
        name, successors = next(reversed(open_ones.items()))
        following = next(successors, None)
        if following is None:
            ended[name] = None
            del open_ones[name]
        elif following in open_ones:
            back.append((name, following))
        elif following in inside and following not in ended:
            open_ones[following] = iter(function.blocks[following].successors)
    return ended, back
