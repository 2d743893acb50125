"""The score: JAIRF's dimensions of the signals that need no model, joined by its weighted harmonic mean.

Left out are the signals that need a model (`doc_clarity`, `intent_legibility`, `descriptive_richness`), other programs'
rules (`lint_results`, `owasp_posture`), knowledge of what is personal (`sensitive_handling`), a look outside of the
document (`registry_signals`, `workflow_context`), and those that are not defined (`intent_phrasing`). The part AI
Discoverability is left out too, since `domain_tagging` alone would decide it. The others count equally within their
dimension, as JAIRF says. The audience of an API is not known, so sensitivity and exposure scale nothing.

Specification: JAIRF 0.2.0, "Scoring Model & Formulae" and "Gating Rules".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..subject import JudgedDocument
from . import operability, signals
from .signals import Census, Signal

SOURCE: Final = "https://docs.jentic.com/reference/api-readiness-framework/specification"
VERSION: Final = "0.2.0"

LEFT_OUT: Final = (
    "doc_clarity", "example_validity", "lint_results", "ai_semantic_surface", "intent_legibility", "sensitive_handling",
    "owasp_posture", "descriptive_richness", "intent_phrasing", "workflow_context", "registry_signals",
    "domain_tagging",
)  # fmt: skip
"""JAIRF's signals that do not count here."""

_NAMES: Final[Mapping[str, str]] = {
    "FC": "Foundational compliance",
    "DXJ": "Developer experience",
    "ARAX": "AI-readiness",
    "AU": "Agent usability",
    "SEC": "Security",
}
WEIGHTS: Final[Mapping[str, float]] = {"FC": 0.16, "DXJ": 0.18, "ARAX": 0.24, "AU": 0.20, "SEC": 0.12}
_EPSILON: Final = 0.000001

_LEVELS: Final = ((90, "Agent-Optimized"), (75, "AI-Ready"), (60, "AI-Aware"), (40, "Foundational"), (0, "Not Ready"))
MIN_FOUNDATION: Final = 40
"""A document below it in Foundational Compliance is not ready, whatever else it is ("Gating Rules")."""

SECRET_CAP: Final = 20.0
UNPROTECTED_CAP: Final = 40.0
"""Highest security scores with a key in a text, and with changes that need no credential. JAIRF caps a public API lower
(20); whether one is public is not known here."""

PLAIN_HTTP_FACTOR: Final = 0.5


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of JAIRF: its short name, name, score from 0 to 100, its signals, and what limited the score."""

    id: str
    name: str
    score: float
    signals: tuple[Signal, ...]
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a document from 0 to 100, its readiness level, and the dimensions that it is made of."""

    value: float
    level: str
    dimensions: tuple[Dimension, ...]


def score_of(subject: JudgedDocument) -> Score:
    """Return the score of a document."""
    counts = Census.of(subject.root)
    parts: dict[str, Iterable[Signal]] = {
        "FC": signals.foundation(subject, counts),
        "DXJ": signals.experience(subject, counts),
        "ARAX": signals.meaning(subject, counts),
        "AU": operability.usability(subject),
        "SEC": operability.security(subject),
    }
    dimensions = tuple(_dimension(name, tuple(part)) for name, part in parts.items())
    value = _harmonic({dimension.id: dimension.score for dimension in dimensions})
    level = next(name for least, name in _LEVELS if value >= least)
    if dimensions[0].score < MIN_FOUNDATION:
        level = _LEVELS[-1][1]
    return Score(round(value, 1), level, dimensions)


def _dimension(name: str, found: tuple[Signal, ...]) -> Dimension:
    mean = 100 * sum(signal.value for signal in found) / len(found)
    limited, reason = _gated(mean, {signal.name: signal.value for signal in found}) if name == "SEC" else (mean, "")
    return Dimension(name, _NAMES[name], round(limited, 1), found, reason)


def _gated(value: float, found: Mapping[str, float]) -> tuple[float, str]:
    """Return the security score after the gating rules, and the rule that limited it."""
    reasons = []
    if found["transport_security"] < 1:
        value *= PLAIN_HTTP_FACTOR
        reasons.append("halved: calls without TLS")
    for name, cap, reason in (
        ("secret_hygiene", SECRET_CAP, "a key stands in the document"),
        ("auth_coverage", UNPROTECTED_CAP, "changes need no credential"),
    ):
        if found[name] < 1 and value > cap:
            value = cap
            reasons.append(f"at most {cap:g}: {reason}")
    return value, "; ".join(reasons)


def _harmonic(scores: Mapping[str, float]) -> float:
    """Return the weighted harmonic mean, so that no dimension makes up for another."""
    costs = sum(WEIGHTS[name] / (score + _EPSILON) for name, score in scores.items())
    return max(0.0, min(100.0, sum(WEIGHTS[name] for name in scores) / costs))
