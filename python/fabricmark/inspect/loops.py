"""The loops of a function: its blocks, what begins and ends them, and which lie within others."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabricmark.inspect.ir import Function, Instruction


@dataclass
class Loop:
    """`header`: the block that it is entered by, `latches`: those that go back; `number`: of metadata."""

    header: str
    latches: list[str]
    blocks: set[str]
    number: int | None
    parent: "Loop | None" = None
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
    back = _back_edges(function)
    before: dict[str, list[str]] = {name: [] for name in function.blocks}
    for name, block in function.blocks.items():
        for successor in block.successors:
            before[successor].append(name)
    found = []
    for header in dict.fromkeys(target for _, target in back):
        latches = [source for source, target in back if target == header]
        blocks, todo = {header}, list(latches)
        while todo:
            name = todo.pop()
            if name not in blocks:
                blocks.add(name)
                todo += before[name]
        last = [function.blocks[latch].instructions[-1] for latch in latches]
        number = next((one.loop for one in last if one.loop is not None), None)
        found.append(Loop(header, latches, blocks, number))
    found.sort(key=lambda loop: -len(loop.blocks))
    for place, loop in enumerate(found):
        around = [outer for outer in found[:place] if loop.blocks < outer.blocks]
        loop.parent = min(around, key=lambda outer: len(outer.blocks), default=None)
        if loop.parent is not None:
            loop.parent.children.append(loop)
    return found


def ahead(function: Function, found: list[Loop], start: str) -> dict[str, list[str]]:
    """The blocks from `start` on, each before those that follow it, with these; no way back."""
    back = {(latch, loop.header) for loop in found for latch in loop.latches}
    around = next((loop for loop in found if loop.header == start), None)
    ended: list[str] = []
    seen = {start}
    stack = [(start, iter(function.blocks[start].successors))]
    while stack:
        name, successors = stack[-1]
        following = next(successors, None)
        if following is None:
            ended.append(name)
            stack.pop()
        elif (
            following not in seen
            and (name, following) not in back
            and (around is None or following in around.blocks)
        ):
            seen.add(following)
            stack.append((following, iter(function.blocks[following].successors)))
    return {
        name: [one for one in function.blocks[name].successors if one in seen and (name, one) not in back]
        for name in reversed(ended)
    }


def _back_edges(function: Function) -> list[tuple[str, str]]:
    """Edges to a block that is being visited: all loops of structured code are entered at one block."""
    found, state = [], {}
    start = next(iter(function.blocks), None)
    if start is None:
        return []
    stack = [(start, iter(function.blocks[start].successors))]
    state[start] = "open"
    while stack:
        name, successors = stack[-1]
        following = next(successors, None)
        if following is None:
            state[name] = "closed"
            stack.pop()
        elif following not in state:
            state[following] = "open"
            stack.append((following, iter(function.blocks[following].successors)))
        elif state[following] == "open":
            found.append((name, following))
    return found
