"""Every MUST and SHOULD of the four pages about authorization has a row in the manifest of requirements."""

import re

import pytest

from tests.conftest import shared_folder
from tests.requirements_authorization import AUTHORIZATION, DISCOVERY, OVERVIEW, REGISTRATION, SECURITY

KEYWORD = re.compile(r"\*\*(?:MUST|SHOULD)(?: NOT)?\*\*")
FILES = {OVERVIEW: f"{OVERVIEW}/index", DISCOVERY: DISCOVERY, REGISTRATION: REGISTRATION, SECURITY: SECURITY}


@pytest.mark.parametrize("page", FILES)
def test_every_must_and_should_of_a_page_has_a_row(page: str) -> None:
    folder = shared_folder("standards") / "mcp" / "docs" / "specification" / "2026-07-28"
    text = (folder / f"{FILES[page]}.mdx").read_text("utf-8")
    rows = [row for row in AUTHORIZATION if row.section.startswith(f"{page}, ")]
    assert sum(row.keywords for row in rows) == len(KEYWORD.findall(text))


def test_rules_that_bind_somebody_else_have_a_reason() -> None:
    assert all(bool(row.reason) != bool(row.tests) for row in AUTHORIZATION)
