"""The requirements of MCP for a server of tools: each MUST and SHOULD over stdio and Streamable HTTP, and its tests.

`test_requirements` checks both directions: each requirement has tests, all of which exist, and each test of the
protocol proves a requirement. Rules that do not bind such a server are not listed: requests of the server to the client
(sampling, roots, elicitation), prompts, resources, completion and tasks, which it does not declare; resumable streams
and HTTP+SSE, which are optional or deprecated; and OAuth, which is optional too: access is checked by a static token,
so there is no authorization server to name.
"""

from typing import Final

from tests.requirement import Requirement
from tests.requirements_basic import BASIC
from tests.requirements_tools import TOOLS
from tests.requirements_transports import TRANSPORTS

REQUIREMENTS: Final[tuple[Requirement, ...]] = BASIC + TRANSPORTS + TOOLS
