"""Wrong inputs for every command of `fabricmark`: command lines, and files that are not what they should be.

{f} stands for a folder of the files below, {ok} for a sound result, {campaign} for a sound campaign.
"""

import json
import os
import shlex

import samples

# Contents that are no result, no campaign, no system and no table, whatever a command expects.
CONTENTS = {
    "empty": b"",
    "blank": b" \n\t\n",
    "garbage": b"this is neither ] TOML [ nor { JSON",
    "binary": bytes(range(256)) * 64,
    "null": b"null",
    "list": b"[1, 2, 3]",
    "number": b"17",
    "text": b'"text"',
    "object": b"{}",
    "deep": b"[" * 50_000,
    "deep-keys": b"a." * 5_000 + b"a = 1",
    "utf16": "schema = 'x'".encode("utf-16"),
    "surrogate": b'{"schema": "\\ud800"}',
    "zeros": b"\0" * 4096,
    "long": b"9" * 6_000,
    "no-end": b'{"schema": "fabricmark-result/2", "run": {"a": [1, 2',
    "nan": b'{"schema": "fabricmark-result/2", "run": NaN}',
    "infinite": b'{"schema": "fabricmark-result/2", "run": 1e999}',
    "unicode": "schema = \"\u202e\u0000\U0001f600\"".encode(),
}  # fmt: skip
READERS = {
    "report": ("report", "{file}"),
    "compare": ("compare", "--base", "{ok}", "--new", "{file}"),
    "campaign": ("run", "{file}"),
    "site": ("campaign", "links", "{file}", "ring", "2"),
    "system of scale": ("scale", "stream", "--devices", "1", "--", "--system", "{file}"),
    "systems check": ("systems", "check", "{file}"),
    "predict": ("predict", "stream", "--system", "{file}"),
    "validate": ("validate", "--data", "{file}"),
}
ENDINGS = {"report": ".json", "compare": ".json", "validate": ".csv"}  # any other: .toml


def changed(*path, to):
    """A result with one value changed; `path` are its keys."""
    made = samples.result()
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(made).encode()


# Documents that are nearly results.
NEARLY = {
    "newer": changed("schema", to="fabricmark-result/3"),
    "other kind": changed("schema", to="fabricmark-campaign/1"),
    "no run": changed("run", to=None),
    "exit code": changed("run", "exit_code", to=-1),
    "started": changed("run", "started", to="yesterday"),
    "command": changed("run", "command", to=[]),
    "own kernel": changed("run", "kernel", to={"file": "", "digest": "x", "origin": "nowhere"}),
    "negative ranks": changed("environment", "ranks", "count", to=-1),
    "ranks": changed("environment", "ranks", "count", to=2),
    "device": changed("environment", "device", to=[]),
    "parameters": changed("parameters", to={"size": {"a": 1}}),
    "measurements": changed("measurements", to={}),
    "best": changed("measurements", 0, "best", to=-7.0),
    "median as text": changed("measurements", 0, "median", to="fast"),
    "kind": changed("measurements", 0, "kind", to="guessed"),
    "no samples": changed("measurements", 0, "samples", "per_rank", to=[]),
    "ragged samples": changed("measurements", 0, "samples", "per_rank", to=[[1.0], [1.0, 2.0]]),
    "samples of nothing": changed("measurements", 0, "samples", "per_rank", to=[[]]),
    "time of zero": changed("measurements", 0, "samples", "per_rank", to=[[0.0, 0.012, 0.011]]),
    "verdict": changed("verdicts", 0, "status", to="perfect"),
    "a huge integer": changed("parameters", "size", to=10**30),
    "extra": changed("extra", to=1),
}  # fmt: skip

MANY = list(range(1, 60))
CAMPAIGNS = {
    "no runs": "schema = 'fabricmark-campaign/1'\n",
    "unknown benchmark": "[[runs]]\nbenchmark = 'nothing'\n",
    "unknown key": "[[runs]]\nbenchmark = 'stream'\nsise = 3\n",
    "negative size": "[[runs]]\nbenchmark = 'stream'\nsize = -5\n",
    "size of nan": "[[runs]]\nbenchmark = 'stream'\nsize = nan\n",
    "ranks of zero": "[[runs]]\nbenchmark = 'stream'\nranks = 0\n",
    "empty axis": "[[runs]]\nbenchmark = 'stream'\nsize = []\n",
    "nested axis": "[[runs]]\nbenchmark = 'stream'\nsize = [[1]]\n",
    "date": "[[runs]]\nbenchmark = 'stream'\nsize = 1979-05-27\n",
    "runs as a table": "[runs]\nbenchmark = 'stream'\n",
    "benchmark as a number": "[[runs]]\nbenchmark = 3\n",
    "too many points": f"[[runs]]\nbenchmark = 'stream'\nsize = {MANY}\nranks = {MANY}\nwarmup = {MANY}\n",
    "json": "[[runs]]\nbenchmark = 'stream'\njson = 'x'\n",
    "negative time": "[[runs]]\nbenchmark = 'stream'\nmin_time = -1.0\n",
}  # fmt: skip

TABLES = {
    "no columns": "a,b\n1,2\n",
    "words for numbers": "benchmark,system,value\nstream,cygnus,fast\n",
    "a quote that never ends": 'benchmark,system\n"stream,cygnus\n',
}

# Command lines, as a shell takes them.
LINES = r"""
nothing
--nothing
runn stream
-
-- x
list nothing
list ''
list ..
list stream/../stream
list stream x
list --device
run
run nothing
run ''
run stream --ranks 0
run stream --ranks x
run stream --ranks -3
run stream --ranks nan
run stream --mpi 0
run stream --ranks 2 --mpi 2
run stream --runtime nothing
run stream --runtime ''
run stream --size 5
run stream --again
run stream --system x
run stream --system ''
run stream --system {f}/garbage.toml
run stream --system noctua1 --bitstream-id x
run stream --system noctua1 --output {f}/empty.json
run stream --bitstream-id 520n_multi/stream
run stream --system noctua1 -- --system x
run all --system noctua1 --bitstream-id 520n_multi/stream
run {campaign} --system noctua1
run stream -- --json x
run stream -- --json=x
run {f}
run {f}/none.toml
run stream --output {f}/empty.json
run stream --output {f}/empty.json/below
run stream --output /proc/none
run {campaign} --ranks 2
run {campaign} -- --size 3
run {campaign} --output {f}/empty.json
run all --runtime all --mpi -1
run stream --ranks 999999999999999999999999999999
scale
scale stream
scale nothing --devices 1
scale stream --devices ''
scale stream --devices 0
scale stream --devices 1,,2
scale stream --devices -1
scale stream --devices 1.5
scale stream --devices 9999999999999999999999999999999999999999
scale stream --devices 1 --mode sideways
scale stream --devices 1 --parameter x
scale stream --devices 1 --parameter data_type
scale stream --devices 1 --parameter-is shared
scale stream --devices 1 --banks 0
scale stream --devices 1 --kernel-mhz nan
scale stream --devices 1 --kernel-mhz -1
scale stream --devices 1 --runtime all
scale stream --devices 1 --runtime x
scale stream --devices 1 -- --json x
scale stream --devices 1 -- --ranks 2
scale stream --devices 1 -- --size
scale stream --devices 1 -- --size many
scale stream --devices 1 -- --size=-3
scale stream --devices 3 --mode strong -- --size 64
scale stream --devices 1 -- --system {f}
scale stream --devices 1 --output {f}/empty.json
report
report {f}/none.json
report {f}/nowhere
report {f}/void
report {ok} --html {f}/void
report {f}/fifo.json
compare --base {f}/fifo.json --new {ok}
report {ok} --html {f}/empty.json/x.html
report {ok} --png {f}/empty.json
report {ok} --svg {f}/void
report {ok} --svg /proc/none/x.svg
report {ok} --nothing
report /dev/null
compare
compare {ok}
compare {ok} {ok}
compare a b c
compare --base {ok}
compare --base --new {ok}
compare --bass {ok}
compare {ok} {f}/void
compare {ok} {f}/none.json
compare {ok} {other} --threshold 0
compare {ok} {other} --threshold nan
compare {ok} {other} --threshold -5%
compare {ok} {other} --threshold %
compare {ok} {other} --statistic mean
compare {ok} {other} --ignore kind
compare {ok} {other} --ignore sise
compare {ok} {other} --seed -1
compare {ok} {other} --seed x
compare {ok} {other} --json {f}/void
compare {ok} {other} --json {f}/empty.json/x
ab
ab fm_stream
ab '' ''
ab fm_stream ''
ab 'fm_stream '"'"'a' fm_stream
ab ls ls
ab fm_none fm_none
ab fm_stream fm_gemm
ab ./fm_stream fm_stream
ab 'fm_stream --json x' fm_stream
ab fm_stream fm_stream --pairs 1
ab fm_stream fm_stream --pairs 0
ab fm_stream fm_stream --pairs x
ab fm_stream fm_stream --pairs 999999999999999999999999999999
ab fm_stream fm_stream --max-pairs 3
ab fm_stream fm_stream --max-pairs 3 --until-clear
ab fm_stream fm_stream --metric ''
ab fm_stream fm_stream --metric =,
ab fm_stream fm_stream --metric speed
ab fm_stream fm_stream --min-effect 200%
ab fm_stream fm_stream --runtime x
ab fm_stream fm_stream --output {f}/empty.json
ab fm_stream fm_stream --ignore name
ab fm_stream fm_stream --seed -1
ab '{f} fm_stream' fm_stream
ab {f}/void/fm_stream fm_stream
systems nothing
systems show nothing
systems show ''
systems show ..
systems check {f}/none.toml
systems check {f}
systems list x
systems export
systems export nothing
systems export {f}/none.toml
systems export noctua1 --profile x
systems export noctua1 --output {f}
systems show cygnus --profile x
systems new --nothing
predict
predict stream
predict nothing --system cygnus
predict stream --system x
predict stream --system ''
predict hpl --system cygnus --devices 0
predict hpl --system cygnus --devices x
predict hpl --system cygnus --devices 9..1
predict hpl --system cygnus --devices 1..9999999
predict hpl --system cygnus --devices ''
predict hpl --system cygnus --set size
predict hpl --system cygnus --set size=nan
predict hpl --system cygnus --set size=-1
predict hpl --system cygnus --set size=1e400
predict hpl --system cygnus --set size=0
predict hpl --system cygnus --set sise=3
predict hpl --system cygnus --set network.x=1
predict hpl --system cygnus --set a.b.c=1
predict hpl --system cygnus --set network.latency=fast
predict hpl --system cygnus --set network.latency=-1us
predict hpl --system cygnus --set 'board.memory.bank_bandwidth=0 GB/s'
predict hpl --system cygnus --set size=4096 --set size=8192
predict hpl --system cygnus --sweep size
predict hpl --system cygnus --sweep size=1:2:3:4
predict hpl --system cygnus --sweep size=4:1
predict hpl --system cygnus --sweep size=1:4:x1
predict hpl --system cygnus --sweep size=1:4:xnan
predict hpl --system cygnus --sweep size=1:1000000:1
predict stream --system cygnus --sweep data_type=a:b
predict hpl --system cygnus --sweep size=1:4:nan
predict hpl --system cygnus --transport pigeon
predict stream --system cygnus --transport host
predict hpl --system cygnus --board x
predict hpl --system cygnus --scaling x
predict fft --system cygnus --scaling strong
predict hpl --system cygnus --profile x
predict hpl --system cygnus --csv {f}/void
predict hpl --system cygnus --plot {f}/x.doc
predict hpl --system cygnus --plot {f}/empty.json/x.png
validate --data {f}/none.csv
validate --data {f}/void
validate --profile x
validate --by x
validate --by ''
validate --csv {f}/void
validate x
runtimes install
runtimes install x
runtimes remove x
runtimes x
calibrate x
calibrate --runtime x
calibrate --runtime ''
"""
# Words that no shell line shows well.
ODD = [
    ["\u202e"],
    ["\ud800"],
    ["list", "\U0001f600"],
    ["list", "a" * 5000],
    ["list", "stream\n"],
    ["list", "\udcff"],
    ["run", "stream", "--output", "a" * 300],
    ["run", "stream", "--output", "a\x00b"],
    ["scale", "stream", "--devices", "\u0661"],
    ["report", "a\x00b"],
    ["report", "a" * 5000],
    ["report", "{f}/\ud800"],
    ["ab", "fm_stream\x00", "fm_stream"],
    ["systems", "show", "\udcff"],
    ["systems", "check", "a\x00b"],
    ["predict", "stream", "--system", "a\x00b"],
    ["predict", "hpl", "--system", "cygnus", "--set", "size=" + "9" * 5000],
]


def prepare(folder):
    """Write the files that the table names; hand back what stands for them."""
    folder.mkdir()
    (folder / "void").mkdir()
    os.mkfifo(folder / "fifo.json")
    for name, content in CONTENTS.items():
        for ending in (".json", ".toml", ".csv"):
            (folder / f"{name}{ending}").write_bytes(content)
    for name, content in NEARLY.items():
        (folder / f"nearly {name}.json").write_bytes(content)
    for name, content in CAMPAIGNS.items():
        (folder / f"campaign {name}.toml").write_text(content)
    for name, content in TABLES.items():
        (folder / f"table {name}.csv").write_text(content)
    sound = {"ok": folder / "sound.json", "other": folder / "another.json", "campaign": folder / "sound.toml"}
    for name in ("ok", "other"):
        sound[name].write_text(json.dumps(samples.result()))
    sound["campaign"].write_text("[[runs]]\nbenchmark = 'stream'\n")
    return {"f": str(folder), **{name: str(path) for name, path in sound.items()}}


def table():
    """(name, words) of every wrong input."""
    words_of_all = [shlex.split(line) for line in LINES.strip().splitlines()] + ODD
    found = [(f"{number}: {' '.join(words)[:60]}", words) for number, words in enumerate(words_of_all, 1)]
    for reader, words in READERS.items():
        for content in CONTENTS:
            file = f"{{f}}/{content}{ENDINGS.get(reader, '.toml')}"
            found.append((f"{reader}: {content}", [file if word == "{file}" else word for word in words]))
    for reader in ("report", "compare"):
        for name in NEARLY:
            file = f"{{f}}/nearly {name}.json"
            found.append(
                (f"{reader}: {name}", [file if word == "{file}" else word for word in READERS[reader]])
            )
    found += [(f"campaign: {name}", ["run", f"{{f}}/campaign {name}.toml"]) for name in CAMPAIGNS]
    found += [(f"validate: {name}", ["validate", "--data", f"{{f}}/table {name}.csv"]) for name in TABLES]
    return found
