"""Optional switches and numbers are passed by name: `percent(share, True)` once set the digits."""

import ast

from conftest import REPOSITORY

PACKAGE = REPOSITORY / "python/fabricmark"


def switches_and_numbers(code):
    """(function, argument) of optional ones that a call could pass by place."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.args.defaults:
            arguments = [*node.args.posonlyargs, *node.args.args][-len(node.args.defaults) :]
            for argument, value in zip(arguments, node.args.defaults, strict=True):
                annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
                is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
                if is_number and "Annotated" not in annotation:
                    yield node.name, argument.arg


def test_they_are_found():
    assert list(switches_and_numbers("def percent(share, digits=0, *, signed=False): ...")) == [
        ("percent", "digits")
    ]


def test_optional_switches_and_numbers_have_names_in_calls():
    """Formulas of models take ranks and shares in the order of their equations."""
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if "models" not in file.parts]
    found = [(file.name, *one) for file in files for one in switches_and_numbers(file.read_text())]
    assert len(files) > 100 and not found
