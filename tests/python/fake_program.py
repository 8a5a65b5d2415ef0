"""Stands in for fm_stream and fm_calibrate: notes how it was started, writes what the real ones would.

FAKE_DEVICES: JSON list of devices (default one). FAKE_EXIT: exit code of a run. FAKE_SILENT: write no file.
FAKE_SLEEP: seconds before the second run's end. FAKE_SIGNAL: signal that ends a run.
FAKE_WORDS: what a run says on standard error; FAKE_SAYS: on standard output. FAKE_LEAVES: file for
the id of a process that it leaves behind. FAKE_DELAY: seconds of every run.
FAKE_EXIT_FOR: JSON, exit code by a word of the command line. FAKE_RANKS: number of MPI ranks.
FAKE_OTHER: JSON, the device that a run says it was on.
FAKE_KIND: kind of time. FAKE_DEVICE_EACH: no two ranks share a device.
"""

import json
import os
import sys
import time

import samples


def chosen(devices, words):
    """The one that --platform and --device name; else the first."""
    wanted = [words[words.index(name) + 1] if name in words else None for name in ("--platform", "--device")]
    for device in devices:
        if wanted == [str(device["platform_index"]), str(device["device_index"])]:
            return device
    return devices[0] if devices else samples.DEVICE


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


WATCHED = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "LD_LIBRARY_PATH")


def main():
    words = sys.argv[1:]
    program = os.path.basename(sys.argv[0])  # no pathlib: half as long to import as all the rest
    seen = {name: os.environ.get(name) for name in WATCHED}
    with open(os.environ["FAKE_LOG"], "a") as file:
        file.write(
            json.dumps(
                {
                    "program": program,
                    "words": words,
                    "environment": seen,
                    "process": os.getpid(),
                }
            )
            + "\n"
        )
    devices = json.loads(os.environ.get("FAKE_DEVICES", json.dumps([samples.DEVICE])))
    if "--list-devices" in words:
        print(json.dumps({"devices": devices}))
        return 0 if devices else 3
    if program == "fm_calibrate":
        print(os.environ.get("FAKE_CALIBRATION", json.dumps(samples.calibration())))
        return 0
    if "FAKE_LEAVES" in os.environ:
        import subprocess  # here: it takes a third of a start

        left = subprocess.Popen(["sleep", "60"])
        write(os.environ["FAKE_LEAVES"], str(left.pid))
    print(os.environ.get("FAKE_WORDS", ""), file=sys.stderr, end="", flush=True)
    print(os.environ.get("FAKE_SAYS", ""), end="", flush=True)
    if "FAKE_SIGNAL" in os.environ:
        os.kill(os.getpid(), int(os.environ["FAKE_SIGNAL"]))
    # The first run ends at once, a later one can be interrupted.
    with open(os.environ["FAKE_LOG"]) as file:
        runs = sum('"--json", "/' in line for line in file)
    if runs > 1:
        time.sleep(float(os.environ.get("FAKE_SLEEP", "0")))
    time.sleep(float(os.environ.get("FAKE_DELAY", "0")))
    codes = json.loads(os.environ.get("FAKE_EXIT_FOR", "{}"))
    code = max([int(os.environ.get("FAKE_EXIT", "0")), *(codes.get(word, 0) for word in words)])
    if "FAKE_SILENT" not in os.environ and "--help" not in words:
        ranks = int(words[words.index("--ranks") + 1]) if "--ranks" in words else 1
        ranks = int(os.environ.get("FAKE_RANKS", ranks))
        kind = os.environ.get("FAKE_KIND", "measured")
        status = "failed" if code == 1 else "passed"
        device = json.loads(os.environ.get("FAKE_OTHER", "{}")) or chosen(devices, words)
        document = samples.result(ranks=ranks, kind=kind, status=status, device=device)
        if "FAKE_DEVICE_EACH" in os.environ:
            for place in document["environment"]["ranks"]["placement"]:
                place["device_index"] = place["rank"]
        write(words[words.index("--json") + 1], json.dumps(document))
    return code


if __name__ == "__main__":
    sys.exit(main())
