"""Test the detection of the OpenAPI version in its many spellings, and the refusal of other formats."""

from typing import Any

import pytest

from openapi_mcp.document.formats import version_of
from openapi_mcp.errors import DocumentError


@pytest.mark.parametrize(
    ("root", "version"),
    [
        ({"openapi": "3.0.4"}, "3.0"),
        ({"openapi": "3.1.0"}, "3.1"),
        ({"openapi": "3.2.1"}, "3.2"),
        ({"openapi": "3.1"}, "3.1"),
        ({"openapi": 3.1}, "3.1"),
        ({"openapi": "3.0.0-RC1"}, "3.0"),
        ({"openapi": "3.0.1-5,Gzt"}, "3.0"),
        ({"openapi": " 3.0.1 "}, "3.0"),
        ({"swagger": "2.0"}, "2.0"),
        ({"swagger": 2.0}, "2.0"),
        ({"swagger": 2}, "2.0"),
        ({"openapi": "3.1.0", "swagger": "2.0"}, "3.1"),
        ({"openapi": None, "swagger": "2.0"}, "2.0"),
    ],
)
def test_the_prefix_of_the_version_decides(root: Any, version: str) -> None:
    assert version_of(root) == (version, ())


@pytest.mark.parametrize(
    ("root", "version"),
    [
        ({"openapi": "3.3.0"}, "3.2"),
        ({"openapi": "3.10.0"}, "3.2"),
        ({"openapi": 3}, "3.2"),
        ({"openapi": "2.0"}, "2.0"),
        ({"swagger": "2.0.1"}, "2.0"),
    ],
)
def test_an_unknown_version_is_read_as_the_nearest_and_reported(root: Any, version: str) -> None:
    read, problems = version_of(root)
    assert read == version
    assert [problem.kind for problem in problems] == ["version"]


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ({"openapi": "4.0.0"}, "OpenAPI '4.0.0' is not supported"),
        ({"openapi": "31"}, "OpenAPI '31' is not supported"),
        ({"openapi": ["3.0.0"]}, "OpenAPI ['3.0.0'] is not supported"),
        ({"swagger": "1.2"}, "Swagger '1.2' is not supported"),
        ({"swagger": "3.0"}, "Swagger '3.0' is not supported"),
        ({"swaggerVersion": "1.2"}, "this is a Swagger 1.x document, not an OpenAPI document"),
        ({"asyncapi": "3.0.0"}, "this is an AsyncAPI document, not an OpenAPI document"),
        ({"info": {}, "paths": {}}, "this has no OpenAPI version"),
        ({}, "this has no OpenAPI version"),
        ([], "this is a list, not an OpenAPI document"),
        (None, "this is an empty file, not an OpenAPI document"),
        ("words", "this is a single value, not an OpenAPI document"),
    ],
)
def test_documents_of_other_formats_are_refused(root: Any, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        version_of(root)
    assert caught.value.message == message
    assert caught.value.hint
