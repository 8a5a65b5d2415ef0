"""Collective calls of the engine in all combinations, which takes too long for each `make test`."""

import subprocess

import pytest
from conftest import DESCRIBE

PROGRAM = DESCRIBE.with_name("engine_tests")
TRANSPORTS = ("udp", "tcp", "rdma-eager", "rdma-rendezvous")


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(TRANSPORTS)), ids=TRANSPORTS)
def test_all_that_calls_differ_in(number):
    if not PROGRAM.exists():
        pytest.skip("engine_tests is not built")
    test = f"Transports/EngineCoveringAll.DISABLED_IsRight/{number}"
    words = [PROGRAM, "--gtest_also_run_disabled_tests", f"--gtest_filter={test}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "[  PASSED  ] 1 test." in done.stdout
