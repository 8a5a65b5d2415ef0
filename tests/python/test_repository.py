"""What may be committed: sources and small data, nothing that a tool has made or downloaded."""

import subprocess

import pytest
from conftest import REPOSITORY

MOST_BYTES = 256 * 1024
PICTURES = (".png",)


def what_is_wrong(name, content):
    """None for a file that may be committed."""
    if len(content) > MOST_BYTES:
        return f"{name} has {len(content)} bytes, more than {MOST_BYTES}"
    if name.endswith(PICTURES):
        return None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return f"{name} is no text"
    return f"{name} has a NUL byte" if b"\0" in content else None


def test_every_tracked_file_is_a_small_text_or_picture():
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if (REPOSITORY / name).is_file()]
    assert len(names) > 1000
    wrong = [what_is_wrong(name, (REPOSITORY / name).read_bytes()) for name in names]
    assert [line for line in wrong if line] == []


@pytest.mark.parametrize("name, content", [
    ("tool-1.0-py3-none-any.whl", b"PK\x03\x04\xff"),
    ("results.json", b"0" * (MOST_BYTES + 1)),
    ("a.txt", b"a\0"),
])  # fmt: skip
def test_what_a_tool_has_made_is_refused(name, content):
    assert what_is_wrong(name, content)
