"""Read the workflows of a server: documents, operations, and at last tools. The entry of this folder."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..document.fetcher import Fetcher
from ..errors import Problem
from ..runtime.request.redaction import redact
from .compiler import WorkflowCompiler
from .documents import DescriptionReader
from .references import CalledApi, OperationReferences, workflow_ids
from .short_form import description_of
from .tools import Consent, WorkflowLimits, Workflows, workflow_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSources:
    """Sources of workflows: paths and URLs of Arazzo Descriptions, and the table `workflows` of a settings file."""

    files: Sequence[str] = ()
    settings: Mapping[str, Any] | None = None
    allow_remote: bool = False


def load(
    sources: WorkflowSources,
    fetcher: Fetcher,
    own: CalledApi,
    open_api: Callable[[str], CalledApi],
    limits: WorkflowLimits,
    *,
    taken: Collection[str],
    consent: Consent | None = None,
) -> Workflows:
    """Return the workflows of some sources. `own` is the API that is served, `open_api` returns that of a document.

    No tool has a name that is `taken`. Raises DocumentError for a file that is no Arazzo Description, and UsageError
    for a table that is no workflow.
    """
    settings = None if sources.settings is None else description_of(sources.settings)
    reader = DescriptionReader(fetcher, allow_remote=sources.allow_remote)
    roots = reader.read_all(sources.files, settings)
    references = OperationReferences(reader, own, open_api)
    problems: list[Problem] = []
    workflows = WorkflowCompiler(references, problems.append).compile(list(reader.found.values()))
    listed = dict.fromkeys((root.identity, name) for root in roots for name in workflow_ids(root))
    keys = [key for key in listed if key in workflows]
    return Workflows(
        tools=workflow_tools(workflows, keys, limits, taken, consent),
        problems=tuple(dict.fromkeys([*reader.problems, *references.problems, *problems])),
        digests={redact(file.uri): file.digest for file in reader.files},
        validators={redact(file.uri): file.validators for file in reader.files if file.validators},
        apis={name: api.uri for name, api in references.apis.items() if name},
    )
