"""`fabricmark systems list|show|check`, and the JSON Schemas beside what the reader takes."""

import re
import shutil
import tomllib

import pytest
import system_schemas
from conftest import REPOSITORY
from fabricmark.base.errors import FabricmarkError
from fabricmark.base.schema import first_fault, validator
from fabricmark.systems import catalogue, files
from wrong_systems import CHANGES

SYSTEMS = REPOSITORY / "systems"
FILES = sorted(SYSTEMS.rglob("*.toml"))
# What a schema cannot tell: what other files have, and what a line or a table above makes of a figure.
BEYOND_A_SCHEMA = {
    "absurd bandwidth", "no bandwidth", "no banks", "no links", "like itself", "like nothing", "twice",
    "cable to nowhere", "unknown board", "unknown bitstreams", "another's bitstreams", "path as a name",
    "too many devices", "no such rows", "no such CSV", "CSV elsewhere", "missing source", "missing value",
    "missing class", "no benchmark", "broken TOML", "not closed", "key twice",
    "more transfers than times", "transfers not ascending",
}  # fmt: skip


@pytest.fixture
def command(place, tmp_path):
    """`fabricmark systems ...` with the repository's systems and a folder of one's own."""
    own = {"FABRICMARK_ROOT": str(REPOSITORY), "FABRICMARK_SYSTEMS": str(tmp_path / "own")}
    return lambda *words: place.run("systems", *words, **own)


def test_list(command, tmp_path):
    listed = command("list")
    assert listed.returncode == 0
    for path in FILES:
        assert re.search(rf"^\w+ +{path.stem} ", listed.stdout, re.MULTILINE)
    assert f"your own files: {tmp_path / 'own'}" in listed.stdout
    shutil.copytree(SYSTEMS / "boards", tmp_path / "own" / "boards")
    (tmp_path / "own" / "boards" / "h200.toml").rename(tmp_path / "own" / "boards" / "mine.toml")
    assert re.search(r"board +mine +NVIDIA H200 +yours", command("list").stdout)


def test_show(command):
    shown = command("show", "520n_serial_40g")
    assert shown.returncode == 0
    row = next(row for row in shown.stdout.splitlines() if "40g.toml: latency" in row)
    assert re.search(r"520 ns +\S+ \w?s +Meyer 2024, Table 4.2; inferred: ", row)
    assert "5 quantities" in shown.stdout
    for profile, value in (("published", "520 ns"), ("fitted", r"[\d.]+ [nu]s  ")):
        one = command("show", "520n_serial_40g", "--profile", profile).stdout
        assert re.search(rf"latency +{value}", one)


def test_every_fitted_figure_of_all_files_by_one_command(command, monkeypatch, tmp_path):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(tmp_path / "own"))
    shown = command("show", "--fitted").stdout
    places = {
        value.place for entry in catalogue.everything() for value in entry.sourced if value.fitted is not None
    }
    assert len(places) > 40
    assert f"{len(places)} quantities, all fitted" in shown
    words = shown.split()
    for place in places:
        assert place.split(": ")[1] in words
    alone = command("show", "noctua1", "--fitted").stdout
    assert "bitstreams.hpl_host.fitted.multiply_latency" in alone.split()
    assert "bitstreams.hpl_channels.clock" not in alone.split()


def test_show_takes_every_kind_and_files(command, tmp_path):
    for name in ("noctua2", "h200", "aurora", "520n_multi", str(SYSTEMS / "boards" / "520n.toml")):
        assert command("show", name).returncode == 0
    everything = command("show")
    assert int(re.search(r"(\d+) quantities$", everything.stdout.strip())[1]) > 400


def test_check(command, tmp_path):
    fine = command("check", *FILES)
    assert (fine.returncode, len(fine.stdout.splitlines())) == (0, len(FILES))
    assert "correct (system, " in fine.stdout
    wrong = tmp_path / "wrong.toml"
    wrong.write_text((SYSTEMS / "hacc.toml").read_text().replace('"hacc_mpi"', '"hacc_mip"', 1))
    refused = command("check", wrong)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"fabricmark: error: {wrong}: line ")
    assert "hacc_mip is no network; use one of " in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (("show", "nothing"), "there is no nothing; see `fabricmark systems list`"),
        (("show", "--profile", "guessed"), "there is no profile guessed; use one of fitted, published"),
        (("show", "--fitted", "--profile", "published"), "--fitted and the profile published; leave out"),
        (("check", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_wrong_use(command, words, message):
    refused = command(*words)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def schema_of(path):
    return f"{catalogue.kind_of(path)}-1"


@pytest.mark.parametrize("kind", ["system", "board", "network", "bitstreams"])
def test_the_schemas_are_schemas(kind):
    schema = validator(f"{kind}-1").schema
    validator(f"{kind}-1").check_schema(schema)
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_schemas_take_every_file(path):
    assert first_fault(schema_of(path), tomllib.loads(path.read_text())) is None


@pytest.mark.parametrize("name", sorted(set(CHANGES) - BEYOND_A_SCHEMA))
def test_the_schemas_refuse_what_the_reader_refuses(name):
    file, old, new, *_ = CHANGES[name]
    path = SYSTEMS / file
    document = tomllib.loads(path.read_text().replace(old, new, 1))
    assert first_fault(schema_of(path), document) is not None


def test_schemas_and_page_are_made_from_the_keys(monkeypatch):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    for path, content in system_schemas.written().items():
        assert path.read_text() == content, f"{path.name}: run .venv/bin/python tools/system_schemas.py"


def example(page, comment):
    """The example in the page that begins with this comment."""
    return re.search(rf"```toml\n(# {comment}\n.*?)```", page, re.DOTALL)[1]


def test_the_examples_of_the_page_are_right(monkeypatch, tmp_path):
    monkeypatch.setenv("FABRICMARK_ROOT", str(REPOSITORY))
    monkeypatch.setenv("FABRICMARK_SYSTEMS", str(tmp_path / "own"))
    page = (REPOSITORY / "docs" / "systems.md").read_text()
    for name in ("my_cluster.toml", "bitstreams/my_bitstreams.toml", "networks/my_mpi.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(example(page, name))
    found = catalogue.entry("system", tmp_path / "my_cluster.toml")
    assert len(found.sourced) > 20
    (tmp_path / "networks" / "my_mpi.toml").unlink()
    with pytest.raises(FabricmarkError, match=r"line 16: devices\[0\].networks.host: my_mpi is no network"):
        catalogue.entry("system", tmp_path / "my_cluster.toml")
    assert files.listed("network").keys().isdisjoint({"my_mpi"})
