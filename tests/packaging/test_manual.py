"""The manual pages as a terminal of 80 columns shows them."""

import subprocess
from pathlib import Path

import pytest

from conftest import needs

PAGES = sorted(Path(__file__).parents[2].joinpath("man").iterdir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_fits_80_columns(page):
    needs("groff")
    # man leaves two columns free.
    done = subprocess.run(
        ["groff", "-ww", "-man", "-t", "-Tutf8", "-rLL=78n", page], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
