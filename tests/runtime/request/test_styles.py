"""Styles: OpenAPI 3.2's table of examples, byte for byte, and the cases that it leaves open."""

from typing import Any

import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import styles
from openapi_mcp.runtime.tool import Argument, Location, Style

STRING = "blue"
ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def argument(style: Style, explode: bool = False, location: Location = "query", **more: Any) -> Argument:
    return Argument(name="color", location=location, style=style, explode=explode, **more)


def joined(pairs: styles.Pairs, separator: str = "&") -> str:
    return separator.join(f"{name}={value}" for name, value in pairs)


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("matrix", False, "", ";color"),
        ("matrix", False, STRING, ";color=blue"),
        ("matrix", False, ARRAY, ";color=blue,black,brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, "", ";color"),
        ("matrix", True, STRING, ";color=blue"),
        ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("label", False, "", "."),
        ("label", False, STRING, ".blue"),
        ("label", False, ARRAY, ".blue,black,brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, "", "."),
        ("label", True, STRING, ".blue"),
        ("label", True, ARRAY, ".blue.black.brown"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("simple", False, "", ""),
        ("simple", False, STRING, "blue"),
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, "", ""),
        ("simple", True, STRING, "blue"),
        ("simple", True, ARRAY, "blue,black,brown"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("pipeDelimited", False, ARRAY, "blue%7Cblack%7Cbrown"),
    ],
)
def test_path_styles_of_the_specification(style: Style, explode: bool, value: Any, expected: str) -> None:
    assert styles.path_text(argument(style, explode, "path"), value) == expected


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", False, "", "color="),
        ("form", False, STRING, "color=blue"),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, "", "color="),
        ("form", True, STRING, "color=blue"),
        ("form", True, ARRAY, "color=blue&color=black&color=brown"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
        ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
        ("spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("tabDelimited", False, ARRAY, "color=blue%09black%09brown"),
        ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", False, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (
            "deepObject",
            True,
            {"a": {"b": [{"c": 1}, 2]}},
            "color%5Ba%5D%5Bb%5D%5B0%5D%5Bc%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2",
        ),
        ("deepObject", True, ["x", "y"], "color%5B0%5D=x&color%5B1%5D=y"),
        ("deepObject", True, "x", "color=x"),
    ],
)
def test_query_styles_of_the_specification(style: Style, explode: bool, value: Any, expected: str) -> None:
    assert joined(styles.query_pairs(argument(style, explode), value)) == expected


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("simple", False, STRING, "blue"),
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("pipeDelimited", False, ARRAY, "blue|black|brown"),
        ("spaceDelimited", False, ARRAY, "blue black brown"),
        ("tabDelimited", False, ARRAY, "blue\tblack\tbrown"),
        ("simple", False, "a b/c%20é", "a b/c%20é"),
    ],
)
def test_header_styles_are_not_escaped(style: Style, explode: bool, value: Any, expected: str) -> None:
    assert styles.header_text(argument(style, explode, "header"), value) == expected


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", False, STRING, "color=blue"),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", True, ARRAY, "color=blue; color=black; color=brown"),
        ("form", True, OBJECT, "R=100; G=200; B=150"),
        ("cookie", False, ARRAY, "color=blue,black,brown"),
        ("cookie", True, ARRAY, "color=blue; color=black; color=brown"),
        ("cookie", True, OBJECT, "R=100; G=200; B=150"),
        ("cookie", False, "", "color="),
        ("form", False, 'a; b="c",d\\', "color=a%3B%20b%3D%22c%22%2Cd%5C"),
        ("cookie", False, 'a; b="c",d\\', "color=a%3B%20b=%22c%22%2Cd%5C"),
        ("cookie", False, "already%3Bescaped", "color=already%3Bescaped"),
        ("form", False, "100%\r\n", "color=100%25%0D%0A"),
        ("cookie", False, "é\r\n\x00", "color=%C3%A9%0D%0A%00"),
    ],
)
def test_cookie_styles_are_escaped(style: Style, explode: bool, value: Any, expected: str) -> None:
    assert joined(styles.cookie_pairs(argument(style, explode, "cookie"), value), "; ") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a b", "a%20b"),
        ("a+b", "a%2Bb"),
        ("a&b=c", "a%26b%3Dc"),
        ("100%", "100%25"),
        ("%20", "%2520"),
        ("a#b", "a%23b"),
        ("é✓", "%C3%A9%E2%9C%93"),
        ("😀", "%F0%9F%98%80"),
        ("a/b?c", "a%2Fb%3Fc"),
        ("\"'<>", "%22%27%3C%3E"),
        ("~-._", "~-._"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (9007199254740993, "9007199254740993"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (1e-07, "0.0000001"),
        (-1.25e-10, "-0.000000000125"),
        (1e21, "1000000000000000000000"),
        (5.0, "5"),
        (-0.0, "0"),
    ],
)
def test_query_value_is_escaped_and_exact(value: Any, expected: str) -> None:
    assert joined(styles.query_pairs(argument("form"), value)) == f"color={expected}"


@pytest.mark.parametrize("value", [None, [], {}, [None], {"a": None}])
@pytest.mark.parametrize("style", ["form", "spaceDelimited", "pipeDelimited", "deepObject"])
def test_undefined_values_are_omitted(style: Style, value: Any) -> None:
    assert styles.query_pairs(argument(style, explode=True), value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a,b", "c"], "color=a%2Cb,c"),
        (["", "x"], "color=,x"),
        ([True, None, 1.5], "color=true,1.5"),
        ([{"a": [1]}, "x"], "color=%7B%22a%22%3A%5B1%5D%7D,x"),
        ({"k,1": "v&2"}, "color=k%2C1,v%262"),
    ],
)
def test_members_are_escaped_and_delimiters_are_not(value: Any, expected: str) -> None:
    assert joined(styles.query_pairs(argument("form"), value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/a/b:c,d;e@f!g$h(i)*j", "/a/b:c,d;e@f!g$h(i)*j"),
        ("a/b c", "a/b%20c"),
        ("a%2Fb", "a%2Fb"),
        ("100%", "100%25"),
        ("%zz%4", "%25zz%254"),
        ("a=b?c", "a=b?c"),
        ("x&admin=1", "x%26admin=1"),
        ("a+b#c[d]", "a%2Bb%23c%5Bd%5D"),
    ],
)
def test_allowed_reserved_characters_are_unescaped_unless_they_end_the_value(value: str, expected: str) -> None:
    assert joined(styles.query_pairs(argument("form", allow_reserved=True), value)) == f"color={expected}"


def test_reserved_characters_in_a_path_do_not_end_a_segment() -> None:
    reserved = argument("simple", location="path", allow_reserved=True)
    assert styles.path_text(reserved, "a:b@c/d?e#f") == "a:b@c%2Fd%3Fe%23f"


def test_inner_arrays_are_joined_by_the_style_of_items() -> None:
    nested = argument("form", items_style="pipeDelimited")
    assert joined(styles.query_pairs(nested, [["a", "b"], ["c"]])) == "color=a%7Cb,c"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("filter[name]", "filter%5Bname%5D"), ("$top", "%24top"), ("a.b-c", "a.b-c"), ("日", "%E6%97%A5")],
)
def test_names_are_escaped_like_values(name: str, expected: str) -> None:
    renamed = Argument(name="x", location="query", wire_name=name, style="form")
    assert joined(styles.query_pairs(renamed, 1)) == f"{expected}=1"


def test_cookie_name_is_unescaped() -> None:
    renamed = Argument(name="x", location="cookie", wire_name="__Host-session:id", style="form")
    assert joined(styles.cookie_pairs(renamed, 1)) == "__Host-session:id=1"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], {"a": [float("nan")]}])
def test_nan_and_infinity_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="cannot be sent"):
        styles.query_pairs(argument("form"), value)


@pytest.mark.parametrize("style", ["matrix", "label", "simple", "form", "spaceDelimited", "cookie", "deepObject"])
@pytest.mark.parametrize("value", [[""] * 100_001, {str(number): "" for number in range(100_001)}])
def test_more_parts_than_a_url_or_a_header_holds_are_refused(style: Style, value: Any) -> None:
    for text in (styles.path_text, styles.header_text, styles.query_pairs, styles.cookie_pairs):
        with pytest.raises(ArgumentError, match="more than 100,000 parts"):
            text(argument(style), value)
