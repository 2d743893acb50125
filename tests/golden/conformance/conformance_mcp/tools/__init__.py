"""The tools that are served, in their order."""

from typing import Any

from ..runtime import ToolFunction
from . import answer, busy, changes, failure, mixture, paper, people, picture, sound, steps, stream, tenants, text

FUNCTIONS: list[ToolFunction[..., Any]] = [
    text.test_simple_text,
    picture.test_image_content,
    sound.test_audio_content,
    paper.test_embedded_resource,
    mixture.test_multiple_content_types,
    failure.test_error_handling,
    steps.test_tool_with_progress,
    busy.test_tool_with_logging,
    answer.test_logging_tool,
    stream.test_streaming_elicitation,
    tenants.test_custom_header,
    people.json_schema_2020_12_tool,
    changes.test_trigger_tool_change,
]
