"""Launchers: the command line of each file, which one is used, a site's own files, and what is refused."""

import os
from pathlib import Path

import pytest
from campaign_support import write
from fabricmark.base import paths
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import schema
from fabricmark.measure import launchers
from fabricmark.measure.launch import Job
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import OPEN_MPI, launched, with_launcher

SHIPPED = sorted(launchers.SHIPPED.glob("*.toml"))
ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
FREE = ["--oversubscribe", "--bind-to", "none"]
TWO_EACH = "ppr:2:node"
# Of 4 processes: (arguments, with two on each of the hosts a and b, with two on each host).
LINES = {
    "flux": (
        "run -o cpu-affinity=off --ntasks=4",
        "run -o cpu-affinity=off --ntasks=4 --nodes=2 --requires=hosts:a,b --nodes=2",
        "run -o cpu-affinity=off --ntasks=4 --nodes=2",
    ),
    "srun": (
        "--ntasks=4",
        "--ntasks=4 --nodes=2 --nodelist=a,b --ntasks-per-node=2",
        "--ntasks=4 --ntasks-per-node=2",
    ),
    "jsrun": (
        "--bind=none --nrs=4 --tasks_per_rs=1",
        None,
        "--bind=none --nrs=4 --tasks_per_rs=1 --rs_per_host=2",
    ),
    "openmpi": (
        " ".join([*FREE, *ROOT, "-n 4"]),
        " ".join([*FREE, *ROOT, "--host a,b --map-by", TWO_EACH, "-n 4"]),
        " ".join([*FREE, *ROOT, "--map-by", TWO_EACH, "-n 4"]),
    ),
    "hydra": ("-n 4", "-hosts a,b -ppn 2 -n 4", "-ppn 2 -n 4"),
}
PLACED = ({}, {"hosts": ("a", "b"), "ranks_per_host": 2}, {"ranks_per_host": 2})
# Whatever it is called: notes its command line and starts one process, which takes itself for all.
STAND_IN = """
import json, os
if "--version" in sys.argv:
    print(os.environ.get("FAKE_VERSION", "")); sys.exit(0)
with open(os.environ["FAKE_LOG"] + ".mpi", "a") as file:
    file.write(json.dumps([*sys.argv, os.environ["FABRICMARK_LAUNCHER"]]) + "\\n")
start = next(i for i, word in enumerate(sys.argv) if word.endswith("fm_stream"))
os.environ["FAKE_RANKS"] = os.environ["FABRICMARK_EXPECT_RANKS"]
os.execv(sys.argv[start], sys.argv[start:])
"""
OWN = """
summary = "a site's"
programs = ["start-ranks", "mpirun"]
order = 5

[arguments]
ranks = ["--count", "{ranks}"]
"""


def site(place, **files):
    """Variables with a folder of a site's launcher files."""
    folder = place.folder / "launchers"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return {"FABRICMARK_LAUNCHERS": str(folder)}


def version(launcher):
    """What the program of a launcher says of itself."""
    return launcher.version_says[0] if launcher.version_says else "another one"


def test_all_are_in_the_table():
    assert {file.stem for file in SHIPPED} == LINES.keys()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_each_starts_a_program(place, file):
    one = launchers.read(file)
    said = {"FAKE_VERSION": version(one), **dict.fromkeys(one.inside[:1], "1")}
    for words in ([], ["--launcher", one.name]):  # by itself, and by name outside of an allocation
        variables = with_launcher(place, one.programs[-1], STAND_IN) | said
        done = place.run("run", "stream", "--mpi", "4", *words, **variables)
        assert done.returncode == 0, done.stderr
        *command, name = launched(place)[-1]
        program = place.folder / "tools" / one.programs[-1]
        arguments = LINES[one.name][0].split()
        assert command[: len(arguments) + 2] == [str(program), *arguments, str(place.programs / "fm_stream")]
        assert name == program.name
        said = {"FAKE_VERSION": version(one)}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_each_places_processes(tmp_path, file):
    one = launchers.read(file)
    for line, placed in zip(LINES[one.name], PLACED, strict=True):
        job = Job("stream", "system", None, 1, 4, tmp_path, **placed)
        if line is not None:
            assert one.options(job, []) == line.split()
            continue
        with pytest.raises(FabricmarkError, match="jsrun cannot place by hosts: no arguments"):
            one.options(job, [])


def test_every_key_is_documented():
    page = (paths.root() / "docs" / "platforms.md").read_text()
    known = schema("launcher-1")["properties"]
    for key in [*known, *known["arguments"]["properties"]]:
        assert f"`{key}`" in page.partition("### Launchers\n")[2].partition("\n## ")[0], key
    assert launchers.PLACEHOLDERS.keys() == known["arguments"]["properties"].keys()


def test_host_count_is_rounded_up(tmp_path):
    job = Job("stream", "system", None, 1, 5, tmp_path, ranks_per_host=2)
    assert launchers.known()["flux"].options(job, [])[-1] == "--nodes=3"


def test_variables_are_passed_on_by_name(tmp_path):
    job = Job("stream", "system", None, 1, 2, tmp_path)
    options = launchers.known()["openmpi"].options(job, ["A", "B"])
    assert " ".join(options).endswith("-x A -x B -n 2")


# Which one is used ----------------------------------------------------------------------------------------


def used(place, **variables):
    environment = {**with_launcher(place, "mpirun", STAND_IN), "FAKE_VERSION": "Open MPI", **variables}
    found = launchers.find(environment)
    return found and found.launcher.name


def test_the_innermost_allocation_counts(place):
    for name in ("flux", "srun", "jsrun"):
        with_launcher(place, name, STAND_IN)
    assert used(place) == "openmpi"
    assert used(place, FAKE_VERSION="HYDRA") == "hydra"
    assert used(place, LSB_JOBID="1") == "jsrun"
    assert used(place, LSB_JOBID="1", SLURM_JOB_ID="1") == "srun"
    assert used(place, SLURM_JOB_ID="1", FLUX_URI="local:///run/flux") == "flux"
    assert used(place, PATH=str(place.folder)) is None


def test_the_first_program_of_a_name_counts(place):
    """An mpiexec of Open MPI behind another's mpirun belongs to another installation."""
    with_launcher(place, "mpiexec", OPEN_MPI)
    assert used(place, FAKE_VERSION="HYDRA") == "hydra"


def test_list_says_which_is_used_and_why_the_others_are_not(place):
    variables = {**with_launcher(place, "mpirun", OPEN_MPI), **site(place, own=OWN, srun=OWN)}
    shown = place.run("list", "--launchers", COLUMNS="400", **variables).stdout.splitlines()
    rows = {line.split()[0]: line for line in shown}
    assert list(rows)[1:-1] == ["own", "srun", "flux", "jsrun", "openmpi", "hydra"]
    tool = place.folder / "tools" / "mpirun"
    assert f"here: {tool}" in rows["own"] and f"{place.folder / 'launchers' / 'srun.toml'}" in rows["srun"]
    assert "no flux in PATH" in rows["flux"] and f"{tool} --version says Open MPI" in rows["hydra"]
    assert shown[-1].startswith("`--mpi` uses own, ")
    alone = place.run("list", "--launchers", PATH=str(place.folder))
    assert alone.returncode == 0 and "none is here" in alone.stdout
    in_path = place.run("list", "--launchers", COLUMNS="400", **with_launcher(place, "srun", OPEN_MPI))
    assert "SLURM_JOB_ID is not set" in in_path.stdout


def test_none_names_all_that_was_looked_for(place, one_error_line):
    empty = {"PATH": str(place.folder)}
    line = one_error_line(place.run("scale", "stream", "--devices", "2", "--launcher", "srun", **empty), 3)
    assert "no launcher srun: no srun in PATH; " in line
    done = place.run("run", "stream", "--mpi", "2", **empty)
    assert done.returncode == 3
    missing = "no flux in PATH, no srun in PATH, no jsrun in PATH, no mpirun or mpiexec in PATH"
    assert f"no MPI launcher: {missing}; " in done.stderr


def test_scale_takes_one_by_name(place):
    variables = with_launcher(place, "srun", STAND_IN) | with_launcher(place, "mpirun", STAND_IN)
    size = '\n[parameters.size]\ntype = "int"\ndefault = 4096\nstage = "run"\nmeaning = "elements"\n'
    place.kernel_toml.write_text(place.kernel_toml.read_text() + size)
    done = place.run("scale", "stream", "--devices", "2", "--launcher", "srun", **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[0][0].endswith("/srun")


def test_a_campaign_takes_one_by_name(place, one_error_line):
    text = 'name = "mpi"\n[[runs]]\nbenchmark = "stream"\nmpi = 2\nlauncher = "srun"\n'
    variables = with_launcher(place, "srun", STAND_IN) | with_launcher(place, "mpirun", STAND_IN)
    done = place.run("run", str(write(place, text)), **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[0][0].endswith("/srun")
    done = place.run("run", str(write(place, text.replace("srun", "prun"))), **variables)
    assert "runs[0].launcher: there is no launcher 'prun'; use one of flux, " in one_error_line(done, 2)
    done = place.run("run", str(write(place, text.replace("mpi = 2", "ranks = 2"))), **variables)
    assert "runs[0].launcher: only MPI processes have a launcher" in one_error_line(done, 2)
    hosts = 'hosts = ["a", "b"]\n' + text.rpartition("\n")[2]
    done = place.run(
        "run", str(write(place, text.replace("srun", "jsrun") + hosts)),
        **with_launcher(place, "jsrun", STAND_IN),
    )  # fmt: skip
    assert done.returncode == 2 and "jsrun cannot place by hosts" in done.stderr


BAD = {
    "unknown": (
        ["--mpi", "2", "--launcher", "prun"],
        2,
        "there is no launcher 'prun'; use one of flux, srun",
    ),
    "not here": (["--mpi", "2", "--launcher", "flux"], 3, "no launcher flux: no flux in PATH"),
    "another's": (["--mpi", "2", "--launcher", "hydra"], 3, "mpirun --version says Open MPI"),
    "without processes": (["--launcher", "srun"], 2, "--launcher starts MPI processes; say how many"),
}


@pytest.mark.parametrize("words, code, cause", BAD.values(), ids=BAD)
def test_a_launcher_that_cannot_be_used_is_one_line(place, one_error_line, words, code, cause):
    variables = with_launcher(place, "mpirun", OPEN_MPI)
    assert cause in one_error_line(place.run("run", "stream", *words, **variables), code)
    assert place.started("fm_calibrate") == [], "refused before anything is measured"


def test_in_process_ranks_have_none(place, one_error_line):
    words = ("scale", "stream", "--devices", "2", "--in-process", "--launcher", "srun")
    assert "--launcher starts MPI processes" in one_error_line(place.run(*words), 2)


# A site's own ---------------------------------------------------------------------------------------------


def test_a_site_adds_its_own(place):
    variables = with_launcher(place, "start-ranks", STAND_IN) | site(place, own=OWN)
    done = place.run("run", "stream", "--mpi", "3", **variables)
    assert done.returncode == 0, done.stderr
    assert launched(place)[0][1:3] == ["--count", "3"]


def test_a_sites_file_takes_the_place_of_ours(place):
    text = (launchers.SHIPPED / "srun.toml").read_text()
    more = text.replace("[arguments]\n", '[arguments]\nalways = ["--mpi=pmix"]\n')
    variables = with_launcher(place, "srun", STAND_IN) | site(place, srun=more) | {"SLURM_JOB_ID": "1"}
    first = str(place.folder / "empty")
    Path(first).mkdir()
    variables["FABRICMARK_LAUNCHERS"] = os.pathsep.join([first, variables["FABRICMARK_LAUNCHERS"], ""])
    assert place.run("run", "stream", "--mpi", "2", **variables).returncode == 0
    assert launched(place)[0][1:3] == ["--mpi=pmix", "--ntasks=2"]


def test_what_to_do_with_singletons_is_said(place):
    place.add_program(place.folder / "tools" / "start-ranks", "")
    text = OWN.replace("[arguments]", 'if_singletons = "use --pmi"\n[arguments]')
    variables = {"PATH": str(place.folder / "tools"), **site(place, own=text)}
    done = place.run("run", "stream", "--mpi", "2", **variables)
    assert "start-ranks does not pass exit codes on; use --pmi, or use --ranks" in done.stderr
    site(place, own=OWN)
    done = place.run("run", "stream", "--mpi", "2", **variables)
    assert "start-ranks does not pass exit codes on; use --ranks" in done.stderr


CHANGES = {
    "not TOML": ("order = 5", "order =", "not valid TOML"),
    "no programs": ('programs = ["start-ranks", "mpirun"]', "", "'programs' is a required property"),
    "an empty list": ('["start-ranks", "mpirun"]', "[]", "programs: "),
    "a program with arguments": ('"start-ranks"', '"start-ranks -v"', "programs[0]: 'start-ranks -v' does"),
    "a relative path": ('"start-ranks"', '"bin/start-ranks"', "programs[0]: "),
    "unknown key": ("order = 5", "order = 5\nprogram = 'a'", "('program' was unexpected)"),
    "unknown group": ("ranks =", "tasks = ['a']\nranks =", "arguments: Additional properties"),
    "no ranks": ('ranks = ["--count", "{ranks}"]', "", "arguments: 'ranks' is a required property"),
    "no placeholder": ('"{ranks}"', '"4"', "arguments.ranks: no placeholder; say where {ranks} stands"),
    "unknown placeholder": ('"{ranks}"', '"{rank}"', "ranks[1]: unknown placeholder {rank}; use {ranks}"),
    "of another group": ("ranks =", "always = ['{ranks}']\nranks =", "always[0]: unknown placeholder {r"),
    "a format": ('"{ranks}"', '"{ranks:>5}"', "unknown placeholder {ranks:>5}"),
    "an attribute": ('"{ranks}"', '"{ranks.real}"', "unknown placeholder {ranks.real}"),
    "a number": ('"{ranks}"', '"{0}"', "unknown placeholder {0}"),
    "half a brace": ('"{ranks}"', '"{ranks"', "ranks[1]: expected '}' before end of string; write"),
    "a variable": ("order = 5", "order = 5\ninside = ['A B']", "inside[0]: 'A B' does not match"),
    "unprintable": ('"--count"', '"a\\u0000b"', "arguments.ranks[0]: 'a\\x00b' has unprintable characters"),
    "a line break": ('"mpirun"', '"mpirun\\n"', "programs[1]: "),
    "no order": ("order = 5", "order = 'first'", "order: 'first' is not of type 'integer'"),
}  # fmt: skip


def refused(file):
    with pytest.raises(FabricmarkError) as caught:
        launchers.read(file)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert message.startswith(f"{file}: ") and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize("old, new, cause", CHANGES.values(), ids=CHANGES)
def test_faults_of_a_file_are_named(tmp_path, old, new, cause):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    launchers.read(file)
    assert old in OWN
    file.write_text(OWN.replace(old, new, 1))
    assert cause in refused(file)


def test_places_that_are_wrong(place, one_error_line):
    (place.folder / "my own.toml").write_text(OWN)
    assert "no name of a launcher" in refused(place.folder / "my own.toml")
    (place.folder / "folder.toml").mkdir()
    assert "cannot be read" in refused(place.folder / "folder.toml")
    gone = place.run("list", "--launchers", FABRICMARK_LAUNCHERS=str(place.folder / "gone"))
    assert "gone cannot be read: No such file or directory; name folders" in one_error_line(gone, 2)
    wrong = place.run("run", "stream", "--mpi", "2", "--launcher", "srun", **site(place, other="order = 1"))
    assert "other.toml: " in one_error_line(wrong, 2)
    (place.folder / "launchers" / "other.toml").rename(place.folder / "launchers" / ".other.toml")
    assert place.run("list", "--launchers", **site(place)).returncode == 0  # an editor's


def test_a_program_that_does_not_say_its_version(place):
    done = place.run("run", "stream", "--mpi", "2", **with_launcher(place, "mpirun", ""))
    assert done.returncode == 3  # another's, which started nothing
    (place.folder / "tools" / "mpirun").write_bytes(b"\x7fELF\xff\x00")
    done = place.run("run", "stream", "--mpi", "2", PATH=str(place.folder / "tools"))
    assert done.returncode == 3 and "mpirun --version: " in done.stderr and "Traceback" not in done.stderr


FUZZ = settings(max_examples=150)
VALUES = st.sampled_from(
    ["[]", "{}", "nan", "true", '"\\u0000"', '["{}"]', '["{ranks!r}"]', "0x1ff", '[["a"]]', "07:32:00"]
)
LINES_OF_OWN = OWN.splitlines()


def read_or_refuse(folder, text):
    """Either a launcher that makes words for a command line, or one line."""
    file = folder / "own.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        words = launchers.read(file).options(Job("stream", "system", None, 1, 2, folder), [])
        assert all(isinstance(word, str) and "\0" not in word and "\n" not in word for word in words)
    except FabricmarkError as error:
        assert "\n" not in str(error)
        str(error).encode("utf-8")


@FUZZ
@given(st.text())
def test_random_text(tmp_path, text):
    read_or_refuse(tmp_path, text)


@FUZZ
@given(st.text(alphabet="{}ranks!:.[]0 "))
def test_random_placeholders(tmp_path, text):
    read_or_refuse(tmp_path, OWN.replace("{ranks}", text))


@FUZZ
@given(st.integers(0, len(LINES_OF_OWN) - 1), VALUES | st.text(max_size=8), st.booleans())
def test_mutated_lines(tmp_path, number, value, keep_key):
    key = LINES_OF_OWN[number].partition("=")[0]
    line = f"{key}= {value}" if keep_key else value
    lines = [*LINES_OF_OWN[:number], line, *LINES_OF_OWN[number + 1 :]]
    read_or_refuse(tmp_path, "\n".join(lines))
