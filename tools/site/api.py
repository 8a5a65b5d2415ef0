"""Pages of the site for programs of others: what headers and modules say of themselves.

Headers are those that `make install` copies below include/; of the Python package the modules that scripts
use, whole, and a list of all others with the first sentence of each. Nothing is imported or compiled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "python" / "fabricmark"
HEADERS = (
    REPOSITORY / "src" / "messages" / "include" / "fabricmark" / "messages.hpp",
    REPOSITORY / "src" / "messages" / "include" / "fabricmark" / "messages_mpi.hpp",
    REPOSITORY / "src" / "codec" / "include" / "fabricmark" / "codec.h",
)
# What scripts of others use; the rest serves the command.
MODULES = (
    "results", "models", "models/machine", "systems", "systems/files", "codec/memory", "mesh/arrays",
    "report/groups", "compare/comparison", "base/errors", "base/kernels",
)  # fmt: skip
NOISE = re.compile(r"FABRICMARK_API |\[\[nodiscard\]\] ?")
NAMES = (
    re.compile(r"^(?:typedef )?(?:class|struct|enum class|enum) (?:FABRICMARK_API )?(\w+)"),
    re.compile(r"(\w+)\s*\("),
)
OPENS = re.compile(r'^(namespace [\w:]+ \{|extern "C" \{)$')


@dataclass(frozen=True)
class Entity:
    """What a header declares: its name, the comment above it, and its declaration without what is private."""

    name: str
    comment: str
    code: str


# --------------------------------------------------------------------------------------------------- headers


def comment_text(lines: Sequence[str]) -> str:
    """The words of a comment's lines; empty lines part paragraphs."""
    plain = [re.sub(r"^\s*(///?|/\*|\*/|\*(?= |$))\s?|\s*\*/$", "", line).rstrip() for line in lines]
    return "\n".join(plain).strip()


def is_whole(lines: Sequence[str]) -> bool:
    """Whether a declaration ends with these lines."""
    text = re.sub(r"//.*|/\*.*?\*/", "", "\n".join(lines))
    depth = text.count("{") + text.count("(") - text.count("}") - text.count(")")
    return depth == 0 and text.rstrip().endswith((";", "}"))


def public(lines: Sequence[str]) -> str:
    """A declaration as its users see it."""
    kept = []
    is_hidden = False
    for line in lines:
        if line.strip() in ("private:", "public:"):
            is_hidden = line.strip() == "private:"
        elif not is_hidden or line.startswith("}"):
            kept.append(NOISE.sub("", line))
    text = "\n".join(kept)
    return re.sub(r"\n+\};$", "\n};", text)


def entities(text: str) -> Iterator[Entity]:
    """What a header declares, in its order. What begins with `//` or `/*` stands above what it is of."""
    comment: list[str] = []
    code: list[str] = []
    in_comment = False
    for line in text.splitlines():
        if not code and (in_comment or line.lstrip().startswith(("//", "/*"))):
            in_comment = ("/*" in line or in_comment) and "*/" not in line
            comment.append(line)
        elif not code and (line.startswith(("#", "}")) or OPENS.match(line)):
            if OPENS.match(line) or line.startswith("#"):
                comment = []
        elif not code and not line.strip():
            comment = []
        else:
            code.append(line)
            if is_whole(code):
                whole = "\n".join(code)
                name = next((found[1] for pattern in NAMES if (found := pattern.search(whole))), "")
                if whole.startswith("enum {"):  # the first of its constants stands for all
                    name = re.search(r"[A-Z]\w+", re.sub(r"/\*.*?\*/", "", whole))[0]
                is_forward = len(code) == 1 and re.match(r"^class \w+;$", whole)
                if name and not is_forward:
                    yield Entity(name, comment_text(comment), public(code))
                code, comment = [], []


def opening(text: str) -> str:
    """What a header says of itself: the comment before its namespace, or its first one."""
    found = re.search(r"((?:^///.*\n)+)namespace", text, re.MULTILINE)
    if found:
        return comment_text(found[1].splitlines())
    first = re.match(r"/\*.*?\*/", text, re.DOTALL)
    return comment_text(first[0].splitlines()) if first else ""


def cpp() -> str:
    """Of all installed headers."""
    lines = [
        "# C and C++", "",
        "Headers of an installation, as they are. How they are used: [messages](../messages.md) and"
        " [compression](../codec.md); how a program finds them: [installation](../install.md).", "",
    ]  # fmt: skip
    for header in HEADERS:
        text = header.read_text(encoding="utf-8")
        language = "c" if header.suffix == ".h" else "cpp"
        lines += [f"## fabricmark/{header.name}", "", prose(opening(text)), ""]
        for one in entities(text):
            lines += [f"### {one.name}", ""]
            lines += [prose(one.comment), ""] if one.comment else []
            lines += [f"```{language}", one.code, "```", ""]
    return "\n".join(lines)


# --------------------------------------------------------------------------------------------------- modules


def prose(text: str) -> str:
    """A comment or docstring as Markdown: outside of code nothing is a tag."""
    parts = re.split(r"(`[^`\n]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def first_sentence(text: str | None) -> str:
    first = (text or "").split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) ", first)[0].rstrip(".")


def signature(one: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """`name(arguments) -> type`."""
    returned = f" -> {ast.unparse(one.returns)}" if one.returns else ""
    return f"{one.name}({ast.unparse(one.args)}){returned}"


def is_public(name: str) -> bool:
    return not name.startswith("_")


def of_function(one: ast.FunctionDef, level: str, before: str = "") -> list[str]:
    said = ast.get_docstring(one)
    lines = [f"{level} {before}{one.name}", "", "```python", before + signature(one), "```", ""]
    return [*lines, prose(said), ""] if said else lines


def of_class(one: ast.ClassDef) -> list[str]:
    """Its docstring, its fields with their types, and its public methods that say something."""
    said = ast.get_docstring(one)
    lines = [f"### {one.name}", ""]
    lines += [prose(said), ""] if said else []
    fields = [
        ast.unparse(entry)
        for entry in one.body
        if isinstance(entry, ast.AnnAssign) and is_public(ast.unparse(entry.target))
    ]
    lines += ["```python", *fields, "```", ""] if fields else []
    for entry in one.body:
        if isinstance(entry, ast.FunctionDef) and is_public(entry.name) and ast.get_docstring(entry):
            lines += of_function(entry, "####", f"{one.name}.")
    return lines


def file_of(module: str) -> Path:
    folder = PACKAGE / module
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def of_module(module: str) -> list[str]:
    tree = ast.parse(file_of(module).read_text(encoding="utf-8"))
    lines = [f"## fabricmark.{module.replace('/', '.')}", "", prose(ast.get_docstring(tree) or ""), ""]
    for one in tree.body:
        if isinstance(one, ast.ClassDef) and is_public(one.name):
            lines += of_class(one)
        elif isinstance(one, ast.FunctionDef) and is_public(one.name):
            lines += of_function(one, "###")
    return lines


def others() -> Iterator[str]:
    """A row for each module: its name and the first sentence of its docstring."""
    yield from ("| module | what it does |", "| --- | --- |")
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("/__init__")
        said = first_sentence(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))))
        if said and name not in ("__init__", "__main__"):
            dotted = name.replace("/", ".")
            yield f"| `fabricmark.{dotted}` | {prose(said).replace('|', chr(92) + '|')} |"


def python() -> str:
    """Of the modules that scripts use, and a list of all."""
    lines = [
        "# Python", "",
        "Modules of the package that scripts of others use. Nothing here is more stable than the version"
        " says; `FabricmarkError` is what bad input raises, one line with cause and remedy. How the modules"
        " are laid out: [architecture](../architecture.md).", "",
    ]  # fmt: skip
    for module in MODULES:
        lines += of_module(module)
    return "\n".join([*lines, "## All modules", "", *others(), ""])


PAGES = {"reference/cpp.md": cpp, "reference/python.md": python}
