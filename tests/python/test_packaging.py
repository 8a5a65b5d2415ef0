"""Recipes for a container and for Spack: their syntax, and that they name what the project needs."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest
from conftest import REPOSITORY

CONTAINERFILE = REPOSITORY / "packaging" / "container" / "Containerfile"
RECIPE = REPOSITORY / "packaging" / "spack" / "package.py"
PACKAGES = tomllib.loads((REPOSITORY / "tools" / "packages.toml").read_text())
INSTRUCTIONS = {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "ENTRYPOINT", "CMD"}
OF_THE_BASE = {"libc6", "libstdc++6", "libgcc-s1", "libopenmpi3"}  # the last one comes with openmpi-bin
OF_NO_RECIPE = {"git", "libgtest-dev"}  # Spack has the first itself; the recipe builds no tests


def instructions(text):
    """(instruction, its words) of a Containerfile, with lines that go on joined."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = (line for line in joined.splitlines() if line.strip() and not line.startswith("#"))
    return [tuple(line.split(maxsplit=1)) for line in lines]


def stages(text):
    """The instructions of each image."""
    found = []
    for instruction, words in instructions(text):
        if instruction == "FROM":
            found.append([])
        found[-1].append((instruction, words))
    return found


def installed(stage):
    """The Debian packages of an image."""
    commands = [
        words.split() for name, words in stage if name == "RUN" and words.startswith("apt-get install")
    ]
    return {word for words in commands for word in words[2:] if not word.startswith("-")}


def faults(text):
    """What a builder would refuse."""
    found = [f"unknown {name}" for name, _ in instructions(text) if name not in INSTRUCTIONS]
    if not instructions(text) or instructions(text)[0][0] != "FROM":
        found.append("no FROM")
    for name, words in instructions(text):
        if name == "RUN" and subprocess.run(["bash", "-n", "-c", words], capture_output=True).returncode:
            found.append(f"no shell command: {words}")
        if name in ("ENTRYPOINT", "CMD") and not isinstance(json.loads(words), list):
            found.append(f"{name} is no list")
    for name, words in instructions(text):
        source = words.split()[0]
        is_here = name == "COPY" and not source.startswith("--from=")
        if is_here and not (REPOSITORY / source).exists():
            found.append(f"no {source}")
    return found


def test_the_container_is_made_of_debian_12_and_of_what_the_readme_says():
    text = CONTAINERFILE.read_text()
    assert faults(text) == []
    builder, image = stages(text)
    assert [words.split()[0] for stage in (builder, image) for name, words in stage if name == "FROM"] == [
        "docker.io/library/debian:12"
    ] * 2
    assert installed(builder) == {"git", "make", "python3", "python3-venv"}
    readme = (REPOSITORY / "README.md").read_text()
    assert "nothing but git, make and Python 3" in readme
    commands = [words for name, words in builder if name == "RUN" and not words.startswith("apt-get")]
    assert commands == ["make install PREFIX=/opt/fabricmark"]
    assert ("ENTRYPOINT", '["fabricmark"]') in image
    page = (REPOSITORY / "docs" / "install.md").read_text()
    lines = [line.strip("# ") for line in text.splitlines() if line.startswith("#   podman")]
    assert len(lines) == 2 and all(f"    {line}\n" in page for line in lines)


def test_ci_builds_the_container_only_where_it_can():
    script = (REPOSITORY / ".ci" / "run").read_text()
    assert "targets+=(container)" in script and "ci: without the container" in script
    target = (REPOSITORY / "Makefile").read_text().partition("\ncontainer:")[2].partition("\n\n")[0]
    built = re.search(r"build -t fabricmark -f (\S+) \.", target)
    assert built[1] == CONTAINERFILE.relative_to(REPOSITORY).as_posix()


def test_faults_of_a_container_are_found():
    text = CONTAINERFILE.read_text()
    assert faults(text.replace("WORKDIR", "WORKFOLDER", 1)) == ["unknown WORKFOLDER"]
    assert faults(text.replace("make install", "make (install", 1))[0].startswith("no shell command")
    assert faults(text.replace("COPY . ", "COPY nothing ", 1)) == ["no nothing"]


@pytest.mark.programs
def test_the_container_has_every_library_that_programs_are_linked_to():
    programs = REPOSITORY / "build" / "release" / "bin"
    if not (programs / "fm_stream").exists() or not shutil.which("dpkg-query"):
        pytest.skip("no programs, or no Debian")
    if 'VERSION_ID="12"' not in Path("/etc/os-release").read_text():
        pytest.skip("no Debian 12")
    files = sorted(file for file in programs.iterdir() if file.name.startswith(("fm_", "fabricmark-")))
    said = subprocess.run(["readelf", "-d", *files], capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r"NEEDED.*\[(.*)\]", said)))
    owners = subprocess.run(
        ["dpkg-query", "--search", *(f"*-linux-gnu/{name}" for name in names)], capture_output=True, text=True
    ).stdout
    needed = {line.split(":")[0] for line in owners.splitlines()}
    providers = {"libopenblas0-pthread", "libopenblas0-openmp", "libopenblas0-serial"}
    needed = {one for one in needed if one not in providers and not one.endswith("-dev")}
    assert len(needed) >= 8
    _, image = stages(CONTAINERFILE.read_text())
    assert needed - OF_THE_BASE - installed(image) == set()


class Recipe:
    """What a stand-in for Spack hears of a recipe while it is read."""

    def __init__(self, text):
        self.calls = {name: [] for name in ("depends_on", "variant", "version", "license", "generator")}
        module = types.ModuleType("spack.package")
        for name, heard in self.calls.items():
            setattr(module, name, lambda *words, heard=heard, **more: heard.append((words, more)))
        module.join_path = lambda *parts: "/".join(parts)
        module.run_before = lambda phase: lambda function: setattr(function, "phase", phase) or function
        self.started = []
        module.Executable = lambda path: lambda *words: self.started.append((path, *words))
        module.CMakePackage = type("CMakePackage", (), {})
        spack = types.ModuleType("spack")
        spack.package = module
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "spack", spack)
            patch.setitem(sys.modules, "spack.package", module)
            names = {}
            exec(compile(text, str(RECIPE), "exec"), names)
        self.made = names["Fabricmark"]()
        python = types.SimpleNamespace(command=lambda *words: self.started.append(("python", *words)))
        self.made.spec = {"python": python}
        self.made.stage = types.SimpleNamespace(path="/stage", source_path="/stage/source")
        self.made.define = lambda name, value: f"-D{name}={value}"
        self.made.define_from_variant = lambda name, variant: f"-D{name}={variant}"

    def dependencies(self):
        """As they are written, but for those of a variant that only Spack has."""
        return {words[0] for words, more in self.calls["depends_on"] if more.get("when") != "+pocl"}


def expected():
    """What an installation is built with, by its names in Spack."""
    of_builds = {name: one for name, one in PACKAGES.items() if "group" not in one}
    assert {name for name, one in of_builds.items() if "spack" not in one} == OF_NO_RECIPE
    return {one["spack"] for one in of_builds.values() if "spack" in one}


def test_spack_depends_on_what_set_up_installs():
    assert Recipe(RECIPE.read_text()).dependencies() == expected()


def test_a_dependency_that_is_left_out_would_be_found():
    text = RECIPE.read_text().replace('    depends_on("boost+context")\n', "")
    assert expected() - Recipe(text).dependencies() == {"boost+context"}


def test_spack_configures_what_cmake_knows():
    recipe = Recipe(RECIPE.read_text())
    known = (REPOSITORY / "CMakeLists.txt").read_text()
    for word in recipe.made.cmake_args():
        assert f"({word.removeprefix('-D').split('=')[0]} " in known
    assert {words[0] for words, _ in recipe.calls["variant"]} == {"mpi", "pocl"}
    recipe.made.fetch_packages()
    assert recipe.made.fetch_packages.phase == "cmake"
    assert recipe.started[0][:3] == ("python", "-m", "venv")
    assert recipe.started[1][-1] == "/stage/source/requirements.txt"
    assert recipe.made.cmake_args()[-1].endswith(recipe.started[1][0])
    assert ast.get_docstring(ast.parse(RECIPE.read_text()).body[-1])
