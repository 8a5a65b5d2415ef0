"""How the tests start fm_b_eff, and what they read of its verdicts."""

import re

# Few and short messages: enough to go wrong in. Chunks of 1000 bytes divide none of them.
SHORT = ("--repetitions", "2", "--largest", "12", "--messages", "3")
WAYS = {
    "cpu": ("--transport", "cpu"),
    "whole": ("--transport", "host", "--chunk-bytes", "0"),
    "chunks": ("--transport", "host", "--chunk-bytes", "1000", "--map-memory", "false"),
    "mapped": ("--transport", "host", "--chunk-bytes", "1000"),
    "shared": ("--transport", "host", "--chunk-bytes", "1000", "--staging", "shared"),
}
PLACE = re.compile(r"byte (\d+) of message (\d+) of (\d+) bytes from rank (\d+)")


def failed(done):
    """Failed verdicts by name, each with the numbers of its place."""
    found = {}
    for verdict in done.document["verdicts"]:
        if verdict["status"] == "failed":
            place = PLACE.fullmatch(verdict["worst"]["place"])
            assert place and verdict["worst"]["place"] in done.output
            found[verdict["name"]] = verdict["worst"]["rank"], *map(int, place.groups())
    return found
