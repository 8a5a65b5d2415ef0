"""Figures that texts print: bounds are kept or missed, values have errors, and what has no model is
listed."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from fabricmark.base.errors import FabricmarkError
from fabricmark.models import _published
from fabricmark.results import figures, published
from fabricmark.validate import texts

EVERY = texts.load()


def one(name):
    return next(text for text in EVERY if text.id == name)


def test_every_file_of_figures_is_read():
    counts = {path.name: sum(text.file == path.name for text in EVERY) for path in texts.files()}
    assert counts == {
        "contini_2024.csv": 37, "karl_2021.csv": 19, "meyer_2024_communication.csv": 35,
        "meyer_2024_shallow_water.csv": 134, "mondigo_2020.csv": 118,
    }  # fmt: skip
    assert len({text.id for text in EVERY}) == len(EVERY)


def test_bounds_are_kept_but_for_one_that_contradicts_another():
    compared = texts.compare(EVERY)
    bounds = [each for each in compared if each.is_bound and each.predicted is not None]
    assert len(bounds) >= 9
    assert [each.text.id for each in bounds if not each.is_kept] == ["c000-38"]
    values = [each.error for each in compared if each.error is not None]
    assert values and max(values) < 0.08


def test_a_wrong_network_would_break_a_bound():
    class Slow(texts.Known):
        def network(self, name):
            found = super().network(name)
            return replace(found, latency_seconds=10 * found.latency_seconds)

    (found,) = texts.compare([one("c000-14")], Slow())
    assert found.predicted is not None and not found.is_kept


def test_figures_without_a_model_are_listed_and_not_scored():
    compared = texts.compare(EVERY)
    without = {each.text.program for each in compared if each.predicted is None}
    assert {"tsunami", "lbm", "credit_link"} <= without
    assert all(each.error is None for each in compared if each.predicted is None)


def test_a_model_takes_over_by_itself(monkeypatch):
    """As soon as a program says what its figures mean they are scored."""
    own = _published.Published({}, lambda row, parameters: {}, figure=lambda text, known: 2.0 * text.value)
    monkeypatch.setattr(texts, "_published", SimpleNamespace(of=lambda name: own))
    (found,) = texts.compare([one("x003-51")])
    assert found.error == pytest.approx(1.0)


def test_a_broken_file_is_refused(tmp_path):
    head, row = ",".join(figures.COLUMNS), "a-1,1,,,b_eff,host,2,,,latency,<,x,us,measured,test,"
    (tmp_path / "some.csv").write_text(f"{head}\n{row}\n")
    with pytest.raises(FabricmarkError, match=r"some\.csv line 2: value 'x' is no number"):
        texts.load(tmp_path)
    (tmp_path / "some.csv").write_text(f"{head}\n{row.replace('<,x', 'below,3')}\n")
    with pytest.raises(FabricmarkError, match="relation 'below' is unknown"):
        texts.load(tmp_path)


def test_the_given_files_are_here_as_they_were_given():
    """Where ../shared has them: every figure is carried that another document does not print, too."""
    folder = published.folder().parents[2] / "shared" / "data" / "published_more"
    if not folder.is_dir():
        pytest.skip("no such folder")
    import csv

    own = {text.id: text for text in EVERY}
    for name in ("communication.csv", "shallow_water.csv", "stream_computing.csv"):
        with (folder / name).open() as file:
            for row in csv.DictReader(file):
                if not row["same_as"] and row["document"] != "001":
                    assert own[row["id"]].value == float(row["value"]), row["id"]
