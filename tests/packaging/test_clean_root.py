"""The clean root's reading of the machine's package database."""

import clean_root
import pytest


@pytest.mark.parametrize("status, there", [
    ("install ok installed", True),
    ("hold ok installed", True),
    ("install ok triggers-pending", True),
    ("install ok triggers-awaited", True),
    ("install ok unpacked", False),
    ("install reinstreq half-installed", False),
    ("deinstall ok config-files", False),
])
def test_a_package_is_there_when_its_files_and_settings_are(status, there):
    """A last installation that was cut off leaves the C library's tools with a trigger to run: left out, no root has `ldconfig`."""
    known = clean_root.stanzas(f"Package: libc-bin\nEssential: yes\nStatus: {status}\nVersion: 1\n\n")
    assert list(known) == (["libc-bin"] if there else [])
