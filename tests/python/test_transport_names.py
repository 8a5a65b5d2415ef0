"""A transport's name has one home in Python and one in C++: all other code asks for what it means.

In Python it is base/transports.py, in C++ the transport's own folder, whose transport.toml says what it is
between. Tables of data take constants of the home.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from conftest import REPOSITORY
from fabricmark.base import kernels, transports

HOME = "base/transports.py"
PACKAGE = REPOSITORY / "python" / "fabricmark"
# Names that other things have, too: classes of devices, kinds of networks, who calls an engine, nothing.
SHARED = {transports.CPU, transports.HOST, transports.MPI, transports.NONE}
OWN = transports.BETWEEN.keys() - SHARED
PARTED = [name for name in OWN if "-" in name]  # which no sentence has by chance
ABOUT = re.compile(r"transport|networks|foreign", re.IGNORECASE)  # what else a shared name may stand beside
TAKING = ("get", "setdefault", "pop")
# Words that are no transport's, with why.
ALLOWED = {("models/b_eff/__init__.py", transports.CHANNELS): "what messages wait for, over any links"}


def described(root: Path) -> dict[str, tuple[str, object]]:
    """The transports of a tree, by the transport.toml of src/: each one's folder, and what it is between."""
    found = {}
    for file in sorted((root / "src").rglob("transport.toml")):
        said, folder = tomllib.loads(file.read_text(encoding="utf-8")), file.parent
        own = folder.name.replace("_", "-")
        protocols = [f"{own}-{one}" for one in said.get("protocols", [])]
        where = folder.relative_to(root).as_posix()
        found |= {name: (where, said.get("between")) for name in protocols or [own]}
    return found


def differences(known: Mapping[str, str], root: Path) -> list[str]:
    """What the table of Python and the files of a tree disagree about, a line each."""
    found, files = [], described(root)
    for name, (where, between) in files.items():
        if name not in known:
            found.append(f"{where}/transport.toml: add {name}, which is between {between}, to {HOME}")
        elif known[name] != between:
            found.append(f"{where}/transport.toml: {name} is between {between}, {HOME} says {known[name]}")
    return found + [f"{HOME}: no transport.toml in src/ is of {name}" for name in known if name not in files]


def test_the_table_is_what_the_files_say():
    assert differences(transports.BETWEEN, REPOSITORY) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            'between = "hosts"',
            "src/transport/cable/transport.toml: add cable, which is between hosts, to base/",
        ),
        ('between = "hosts"\nprotocols = ["far"]', "add cable-far, which is between hosts"),
    ],
)
def test_a_folder_that_the_table_lacks_is_said(tmp_path, text, fault):
    (tmp_path / "src/transport/cable").mkdir(parents=True)
    (tmp_path / "src/transport/cable/transport.toml").write_text(text)
    assert fault in differences({}, tmp_path)[0]
    known = {"cable": "devices", "cable-far": "devices"}
    said = differences(known, tmp_path)
    assert any("is between hosts, base/transports.py says devices" in line for line in said)
    assert any("no transport.toml" in line for line in said)


def test_what_nobody_names_is_what_kernels_take():
    usual = {
        parameters["transport"].default
        for parameters in (kernels.kernel(name).parameters for name in kernels.benchmark_names())
        if "transport" in parameters
    }
    assert usual == {transports.USUAL}


def test_what_is_asked_follows_from_the_table():
    for name, kind in transports.BETWEEN.items():
        assert name in transports.between(kind)
        asked = (transports.HOSTS, transports.STREAMS, transports.ENGINES)
        answers = (transports.between_hosts, transports.between_streams, transports.between_engines)
        assert [one(name) for one in answers] == [kind == one for one in asked]
    assert transports.THROUGH_HOSTS == (transports.CPU, transports.HOST)
    assert set(transports.NAMES) == {transports.NONE, *transports.BETWEEN}


class Names(ast.NodeVisitor):
    """Lines of a module at which a transport's name stands in quotes.

    A name of transports only: anywhere, docstrings apart. A name that others have, too: compared with,
    given to, or taken for something that is called a transport. `takes`: at which places functions and
    classes take one.
    """

    def __init__(self, takes: Mapping[str, set[int]]) -> None:
        self.takes = takes
        self.lines: dict[int, str] = {}

    def shared(self, about: ast.AST | str, values: Iterable[ast.AST | None]) -> None:
        words = [one for value in values for one in _words(value)]  # few have any, and to unparse takes long
        if words and ABOUT.search(about if isinstance(about, str) else ast.unparse(about)):
            self.lines |= {one.lineno: one.value for one in words}

    def visit_Constant(self, node: ast.Constant) -> None:
        text = node.value
        if isinstance(text, str):
            is_start = text.endswith("-") and any(name.startswith(text) for name in OWN)
            if text in OWN or is_start or any(name in text for name in PARTED):
                self.lines[node.lineno] = text

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else a docstring
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for side in sides:
            self.shared(side, [other for other in sides if other is not side])
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for keyword in node.keywords:
            self.shared(keyword.arg or "", [keyword.value])
        for place, value in enumerate(node.args):
            if place in self.takes.get(called, ()):
                self.shared("transport", [value])
        if called in TAKING and node.args and isinstance(node.func, ast.Attribute):
            self.shared(node.args[0], node.args[1:])
            self.shared(_last(node.func.value), node.args[:1])
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.shared(_last(node.value), [node.slice])
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            self.shared(key or "", [value])
        self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> None:
        plain = [*node.posonlyargs, *node.args]
        for one, value in zip(reversed(plain), reversed(node.defaults), strict=False):
            self.shared(one.arg, [value])
        for one, value in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            self.shared(one.arg, [value])
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.shared(target, [node.value])
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.shared(node.target, [node.value])
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.shared(node.target, [node.iter])
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.shared(node.target, [node.iter])
        self.generic_visit(node)


def _words(value: ast.AST | None) -> Iterator[ast.Constant]:
    """Shared names in a value as it stands: alone, in a list of them, as keys, or as one of two."""
    if isinstance(value, ast.Constant):
        yield from [value] if isinstance(value.value, str) and value.value in SHARED else []
    elif isinstance(value, ast.Tuple | ast.List | ast.Set):
        for one in value.elts:
            yield from _words(one)
    elif isinstance(value, ast.Dict):
        for key in value.keys:
            yield from _words(key)
    elif isinstance(value, ast.IfExp):
        yield from _words(value.body)
        yield from _words(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for one in value.values:
            yield from _words(one)


def _last(value: ast.AST) -> str:
    """What holds a key is called: `system.networks` is called networks."""
    return value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")


def taking(trees: Iterable[ast.AST]) -> dict[str, set[int]]:
    """At which places functions, methods and classes take a transport, by their names."""
    found: dict[str, set[int]] = {}
    for node in (one for tree in trees for one in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg != "self"]
        elif isinstance(node, ast.ClassDef):
            names = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]
        else:
            continue
        places = {place for place, name in enumerate(names) if name == "transport"}
        found[node.name] = found.get(node.name, set()) | places
    return found


@cache
def modules() -> dict[str, ast.AST]:
    files = sorted(PACKAGE.rglob("*.py"))
    return {
        file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files
    }


@cache
def taken() -> dict[str, set[int]]:
    return taking(modules().values())


def python_names(trees: Mapping[str, ast.AST]) -> list[str]:
    """FILE: line N: NAME of each name in quotes outside the home."""
    takes, found = dict(taken()), []
    if trees is not modules():
        for name, places in taking(trees.values()).items():
            takes[name] = takes.get(name, set()) | places
    for name, tree in trees.items():
        seen = Names(takes)
        if name != HOME:
            seen.visit(tree)
        lines = sorted(seen.lines.items())
        found += [f"{name}: line {at}: {word}" for at, word in lines if (name, word) not in ALLOWED]
    return found


def test_python_names_a_transport_in_its_home_only():
    assert python_names(modules()) == []


@pytest.mark.parametrize(
    "line",
    [
        'WORDS = {"way": "channels"}',
        'if one.transport.startswith("accl-"): pass',
        'print("use accl-udp or another")',
        'if request.transport == "cpu": pass',
        'if parameters["transport"] in ("cpu", "host"): pass',
        'if "mpi" != transport_of(row): pass',
        'found = parameters.get("transport", "host")',
        'group("over the host", transport="host")',
        'options = {"transport": "cpu", "largest": 22}',
        'network = system.networks["host"]',
        'network = networks.get("host")',
        "def of(rows, transport='cpu'): pass",
        "def of(rows, *, transport='cpu'): pass",
        "class Run:\n    transport: str = 'none'",
        "for transport in ('cpu', 'host'): pass",
        'found = {transport: 1 for transport in ("cpu", "host")}',
        'traits = Traits(foreign={"host": "other code"})',
        'BY_TRANSPORT = {"host": 1}',
        'transport = "host" if alone else row.transport',
        'of_network("host", "latency")',
        'Bitstream("a", "stream", "520n", "base", "none", {}, {})',
    ],
)
def test_a_name_elsewhere_in_python_is_found(line):
    assert len(python_names({"new.py": ast.parse(line)})) == 1


@pytest.mark.parametrize(
    "line",
    [
        '"""Messages over channels."""',
        'cpu = document["environment"]["host"]["cpu"]',
        'if board.device_class == "cpu": pass',
        'if network.kind == "host": pass',
        'ranks = {"kind": "mpi"}',
        "if transports.between_hosts(request.transport): pass",
        'name = f"{transport} over channels"',
        'transport = parameters["transport"]',
    ],
)
def test_other_words_in_python_are_left_alone(line):
    assert python_names({"new.py": ast.parse(line)}) == []


def source_names(root: Path) -> list[str]:
    """FILE: line N: text of each name in quotes of the C++ sources of a tree, outside the transport's folder.

    Names that others have, too, count where something called a transport is compared with them or becomes
    one. The first word of an entry of a table of host code is a variant's, which may have a transport's name.
    """
    homes = {name: where for name, (where, _) in described(REPOSITORY).items()}
    parted = "|".join(sorted(PARTED))
    others = "|".join(sorted(OWN - set(PARTED)))
    shared = "|".join(sorted(SHARED - {transports.NONE}))
    patterns = [
        re.compile(rf'"(?:[^"\n]*[^"\n\w-])?({parted})(?![\w-])[^"\n]*"'),
        re.compile(rf'"({others})"(?!, (?:runtime::)?Between::)'),
        # A communicator has a kind of ranks, which may be MPI's processes.
        re.compile(rf'transport(?:(?!kind\(\))[^;{{}}])*?[!=]=\s*"({shared})"', re.IGNORECASE),
        re.compile(rf'"({shared})"\s*[!=]=\s*[\w.>-]*transport', re.IGNORECASE),
        re.compile(rf'transport\s*=(?!=)[^;,{{}}]*?"({shared})"', re.IGNORECASE),
    ]
    found = []
    for file in sorted((root / "src").rglob("*.[ch]pp")):
        text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            if not file.is_relative_to(root / homes[match[1]]):
                line = text.count("\n", 0, match.start(1)) + 1
                said = text.splitlines()[line - 1].strip()
                found.append(f"{file.relative_to(root).as_posix()}: line {line}: {said}")
    return list(dict.fromkeys(found))


def test_the_sources_name_a_transport_in_its_own_folder_only():
    assert source_names(REPOSITORY) == []


@pytest.mark.parametrize(
    ("folder", "line", "is_found"),
    [
        ("apps", 'if (name == "channels") return;', True),
        ("apps", 'throw bad_use(what, "use accl-udp, accl-tcp or accl-rdma");', True),
        ("apps", 'if (options.transport == "host") return;', True),
        ("apps", 'if (context.parameters().text("transport") != "mpi") return false;', True),
        ("apps", 'if ("cpu" == options->transport) return false;', True),
        ("apps", 'options.transport = options.is_on_hosts() ? "mpi" : kUsual;', True),
        ("apps", "// over accl-udp", False),
        ("apps", '{"channels", Between::kStreams, make},', False),
        ("apps", 'if (transport.ranks().kind() == "mpi") return;', False),
        ("apps", 'document["host"]["cpu"] = name;', False),
        ("transport/host", 'if (transport == "host") return;', False),
        ("transport/cpu", 'if (transport == "host") return;', True),
        ("board/accl", 'constexpr const char* kName = "accl-udp";', False),
    ],
)
def test_a_name_elsewhere_in_the_sources_is_found(tmp_path, folder, line, is_found):
    (tmp_path / "src" / folder).mkdir(parents=True)
    (tmp_path / "src" / folder / "fast.cpp").write_text(line)
    assert bool(source_names(tmp_path)) is is_found
