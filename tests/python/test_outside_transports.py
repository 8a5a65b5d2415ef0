"""Transports of kernels that are libraries outside of the sources: the example of CONTRIBUTING.md as printed.

What is wrong with one ends every program and command in one line.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import simulated_runs
from conftest import REPOSITORY, one_error_line
from fabricmark import results
from fabricmark.base import schema, transports
from fabricmark.base.errors import FabricmarkError
from fabricmark.compare import metrics
from fabricmark.report import groups
from stream_program import mpirun
from test_contributing import OF_KERNELS, PAGE

BUILD = REPOSITORY / "build" / "release"
NAME = "mycables"
DESCRIPTION = OF_KERNELS[0][1]
CODE, COMMAND = re.search(
    r"`mycables/mycables\.cpp`:\n\n```cpp\n(.*?)```.*?```sh\n(.*?)```", PAGE, re.DOTALL
).groups()
# Small runs, with the ranks that they need.
RUNS = {
    "b_eff": ("--ranks", "2", "--largest", "3"),
    "ptrans": ("--ranks", "4", "--size", "64", "--block-size", "16"),
}


def written(folder, code=None, description=DESCRIPTION, name=NAME):
    """A transport's folder, with `code` as printed or other; the library is not there yet."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "transport.toml").write_text(description)
    (place / f"{name}.cpp").write_text(CODE if code is None else code)
    return place


def compiled(place, command=COMMAND):
    """Compiles the library by the command as printed, where the sources' build is `build`."""
    (place.parent / "build").symlink_to(REPOSITORY / "build")
    done = subprocess.run(["bash", "-c", command], cwd=place.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def cables(tmp_path_factory):
    if not (BUILD / "include").is_dir():
        pytest.skip("needs a built tree")
    return compiled(written(tmp_path_factory.mktemp("outside")))


def run(program, transport, system, *more, folders=(), before=(), built=BUILD):
    command = [
        *before, built / f"bin/fm_{program}", "--transport", transport, "--system", system,
        "--repetitions", "1", "--timeout", "10", "--json", "-", *more,
    ]  # fmt: skip
    environment = {**os.environ, transports.FOLDERS: ":".join(map(str, folders))}
    return subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def named(transport, more_seconds=0.0):
    """Renames the direct links of a system and of its designs, and makes them slower."""

    def change(document):
        networks = document["topology"][0]["networks"]
        own = networks.pop(transports.CHANNELS)
        networks[transport] = own
        for one in document["bitstreams"]:
            one["transport"] = transport if one["transport"] == transports.CHANNELS else one["transport"]
        values = next(one for one in document["networks"] if one["id"] == own)["values"]
        values["latency_seconds"]["value"] += more_seconds

    return change


def modelled(done):
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {one["status"] for one in document["verdicts"]} == {"passed"}
    found = [one["best"] for one in document["measurements"] if one["kind"] == "modelled"]
    assert found
    return document, found


@pytest.mark.programs
@pytest.mark.parametrize("program", RUNS)
def test_programs_run_over_it_as_over_one_of_the_sources(cables, tmp_path, program):
    """With the same modelled times; a lost message is found; the result names the library."""
    system = simulated_runs.exported(tmp_path, change=named(NAME))
    over = (program, NAME, system, *RUNS[program])
    document, times = modelled(run(*over, folders=[cables]))
    library = document["run"]["transport_library"]
    assert library["file"] == str((cables / f"lib{NAME}.so").resolve())
    assert any(library["digest"] in note for note in document["notes"])
    assert schema.first_fault("result-2", document) is None
    slower = simulated_runs.exported(
        tmp_path / "..", "noctua1", named(transports.CHANNELS, 5e-9 * 1000.0)
    )  # the metres that nobody names
    own, same = modelled(run(program, transports.CHANNELS, slower, *RUNS[program]))
    assert times == same
    assert "transport_library" not in own["run"]
    assert modelled(run(*over, "--cable-m", "10", folders=[cables.parent]))[1] != times
    lost = run(*over, "--inject-fault", "lost@0", folders=[cables])
    assert lost.returncode == 1, lost.stderr


@pytest.mark.programs
def test_processes_of_mpi_run_over_it(cables, tmp_path):
    system = simulated_runs.exported(tmp_path, change=named(NAME))
    small = ("--largest", "3")
    _, times = modelled(run("b_eff", NAME, system, *small, folders=[cables], before=mpirun(2)))
    assert times == modelled(run("b_eff", NAME, system, *small, "--ranks", "2", folders=[cables]))[1]


def with_entry(members):
    """C++ of a library that says these of itself."""
    own = f"static const void* const own[] = {{{members}}}; return own;"
    return f'extern "C" const void* fabricmark_transport() {{ {own} }}'


def quick(place, code):
    """A library of other code, without the headers."""
    command = f"c++ -fPIC -shared -x c++ -o {place}/lib{place.name}.so -"
    subprocess.run(["bash", "-c", command], input=code, text=True, check=True, timeout=60)


def digest():
    text = (BUILD / "include/board/headers_digest.hpp").read_text()
    return re.search(r'kHeadersDigest = "(\w+)"', text)[1]


# What is wrong with a library: its source, the exit code, what the line says.
OF_LIBRARY = {
    "none": (None, 2, "cannot read the library of the transport mycables"),
    "no library": ("text", 3, "invalid ELF header"),
    "empty": ("", 3, "file too short"),
    "no entry": ("int any = 1;", 3, "no FABRICMARK_TRANSPORT stands in it"),
    "a name that nobody has": ("void gone(); void any() { gone(); }", 3, "undefined symbol: _Z4gonev"),
    "other headers": (with_entry('"0123", "mycables", nullptr'), 3, "have the digest 0123, not "),
    "of another": (with_entry('"DIGEST", "ours", nullptr'), 3, "it is of 'ours'"),
    "gives nothing": (
        "struct Some { Some* own; ~Some() {} }; static Some make() { return {nullptr}; }"
        + with_entry('"DIGEST", "mycables", reinterpret_cast<const void*>(make)'),
        3,
        "its make_links gives none",
    ),
}


@pytest.mark.programs
@pytest.mark.parametrize("wrong", OF_LIBRARY)
def test_a_library_that_cannot_be_used_is_named(tmp_path, wrong):
    source, code, said = OF_LIBRARY[wrong]
    place = written(tmp_path / "folder")
    if wrong in ("no library", "empty"):
        (place / f"lib{NAME}.so").write_text(source * 1000)
    elif source is not None:
        quick(place, source.replace("DIGEST", digest()))
    system = simulated_runs.exported(tmp_path, change=named(NAME))
    done = run("b_eff", NAME, system, *RUNS["b_eff"], folders=[place])
    lines = done.stderr.splitlines()
    assert done.returncode == code and len(lines) == 1, (done.returncode, done.stderr)
    assert said in lines[0] and f"lib{NAME}.so" in lines[0] and "; compile it with the headers" in lines[0]
    assert not done.stdout


@pytest.mark.programs
def test_what_its_code_refuses_is_said_as_by_ours(tmp_path):
    """Errors of a library are caught as what they are."""
    code = CODE.replace(
        "constexpr double", 'if (context.computes()) throw bad_use("mine", "own");\n  constexpr double'
    )
    place = compiled(written(tmp_path / "folder", code))
    system = simulated_runs.exported(tmp_path, change=named(NAME))
    done = run("b_eff", NAME, system, *RUNS["b_eff"], folders=[place])
    assert (done.returncode, done.stderr) == (2, "fm_b_eff: error: mine; own (rank 0)\n")


def changed(old, new):
    assert old in DESCRIPTION
    return DESCRIPTION.replace(old, new)


# What is wrong with a folder: its name, its transport.toml, what program and command say.
OF_FOLDER = {
    "no TOML": (NAME, DESCRIPTION + "[", "is not TOML", "transport.toml': "),
    "memories": (NAME, changed('"streams"', '"hosts"'), "between memories is no library", "between is hosts"),
    "between nothing": (
        NAME,
        changed('"streams"', '"kernels"'),
        "give devices, hosts, streams or engines",
        "",
    ),
    "an unknown key": (NAME, 'way = "far"\n' + DESCRIPTION, "way", None),
    "a default out of range": (
        NAME,
        changed("1000.0", "1e9"),
        "mycables/transport.toml': parameters.cable_m",
        None,
    ),
    "an option of ours": (
        NAME,
        changed(".cable_m", ".largest"),
        "parameters.largest of the transport mycables is another parameter of b_eff, too",
        None,
    ),
    "a name of ours": ("channels", DESCRIPTION, "there is another transport 'channels'", ""),
    "a folder of ours": ("accl", DESCRIPTION, "there is another transport 'accl-", None),
    "no transport": (transports.NONE, DESCRIPTION, "none stands for no transport", ""),
    "a name that no namespace has": ("My cables", DESCRIPTION, "use small letters, digits and _", ""),
}


def fabricmark(tmp_path, *words, folders):
    """In a process of its own: what fabricmark-describe says is kept in one."""
    environment = {**os.environ, transports.FOLDERS: folders, "COLUMNS": "1000"}
    command = [sys.executable, "-m", "fabricmark", *map(str, words)]
    return subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def all_refuse(tmp_path, folders, said, python_said=None, *, is_listed=True):
    """The program, what Python itself reads of it, and if `is_listed` `fabricmark list`."""
    environment = {**os.environ, transports.FOLDERS: folders}
    done = subprocess.run(
        [BUILD / "bin/fm_b_eff", "--help"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    if is_listed:
        assert said in one_error_line(fabricmark(tmp_path, "list", "b_eff", folders=folders), 2)
    if python_said is not None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(transports.FOLDERS, folders)
            with pytest.raises(FabricmarkError, match=re.escape(python_said or said)):
                transports.outside()


# The command says what fabricmark-describe does, which reads folders as programs do: all in make test-full.
LISTED = ("no TOML", "a name of ours")


@pytest.mark.programs
@pytest.mark.parametrize(
    "wrong, is_listed",
    [
        *((wrong, wrong in LISTED) for wrong in OF_FOLDER),
        *(pytest.param(wrong, True, marks=pytest.mark.full) for wrong in OF_FOLDER if wrong not in LISTED),
    ],
)
def test_a_description_that_is_wrong_is_named(tmp_path, wrong, is_listed):
    name, description, said, python_said = OF_FOLDER[wrong]
    if wrong == "between nothing":
        python_said = "between is kernels"
    place = str(written(tmp_path / "folder", "", description, name))
    all_refuse(tmp_path, place, said, python_said, is_listed=is_listed)


@pytest.mark.programs
def test_an_option_of_the_programs_is_no_parameter(tmp_path):
    """Which the command does not know of."""
    place = written(tmp_path / "folder", "", changed(".cable_m", ".ranks"))
    done = run("b_eff", NAME, "any", folders=[place])
    assert done.returncode == 2 and done.stderr.startswith("fm_b_eff: error: the parameter ranks is another")
    assert done.stderr.count("\n") == 1


@pytest.mark.programs
def test_folders_that_are_wrong_are_named(tmp_path):
    (tmp_path / "empty").mkdir()
    for place in ("empty", "gone"):
        all_refuse(tmp_path, f"{tmp_path / place}", f"is in '{tmp_path / place}' or right below it", "")
    twice = f"{written(tmp_path / 'a', '')}:{written(tmp_path / 'b', '')}"
    all_refuse(tmp_path, twice, f"there is another transport '{NAME}'", "")


def test_the_command_knows_it_as_one_of_ours(tmp_path, monkeypatch):
    """Described only: what does not run it needs no library."""
    place = written(tmp_path / "folder", "")
    listed = fabricmark(tmp_path, "list", "b_eff", folders=f":{place}/:").stdout
    assert "--cable-m" in listed and f"{NAME} (direct links between kernels, by long cables)" in listed
    document = (REPOSITORY / "systems/noctua1.toml").read_text()
    own = tmp_path / "own.toml"
    own.write_text(document.replace("\nchannels = ", f"\n{NAME} = "))
    asked = ("predict", "b_eff", "--system", own, "--transport", NAME, "--devices", "2")
    told = fabricmark(tmp_path, *asked, folders=str(place.parent))
    assert told.returncode == 0 and f"over {NAME}" in told.stdout, told.stderr
    assert NAME in one_error_line(fabricmark(tmp_path, *asked, folders=""), 2)
    monkeypatch.setenv(transports.FOLDERS, str(place))
    assert transports.between_streams(NAME) and not transports.between_engines(NAME)
    (place / "transport.toml").write_text('summary = "s"\nbetween = "engines"\nprotocols = ["a", "b"]\n')
    assert transports.outside() == {f"{NAME}-a": transports.ENGINES, f"{NAME}-b": transports.ENGINES}


@pytest.mark.programs
def test_runs_over_two_libraries_are_never_mixed(cables, tmp_path):
    """Of one name and one file name; `run` starts programs with the variable, `report` keeps them apart."""
    system = simulated_runs.exported(tmp_path, change=named(NAME))
    other = tmp_path / "other" / NAME
    shutil.copytree(cables, other)
    with (other / f"lib{NAME}.so").open("ab") as library:
        library.write(b"\0")
    for folder in (cables, other):
        done = fabricmark(
            tmp_path, "run", "b_eff", "--ranks", "2", "--", "--transport", NAME, "--system", system,
            "--largest", "3", "--repetitions", "2", folders=str(folder),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    loaded = [results.load(file) for file in (tmp_path / "results").rglob("*.json")]
    assert len(groups.make(loaded)) == len(loaded) == 2
    assert len({metrics.conditions(one)["transport-library"] for one in loaded}) == 2
    shown = fabricmark(tmp_path, "report", "results", "--full", folders="").stdout
    assert all(one.document["run"]["transport_library"]["digest"] in shown for one in loaded), shown
