"""Every MUST and SHOULD of MCP that binds a server of tools over stdio and Streamable HTTP, and what shows it.

`test_requirements` checks it in both directions: each sentence has tests and each of them is there, and no test of the
protocol is without a sentence. What does not bind such a server is not listed: requests of the server to the client
(sampling, roots, elicitation), prompts, resources, completion and tasks, which it does not declare; streams that can be
resumed, and HTTP+SSE, which are optional or deprecated; and OAuth, which is optional too: at the door a static token is
asked for, so that there is no authorization server to name.
"""

from typing import Final

from tests.requirement import Requirement
from tests.requirements_basic import BASIC
from tests.requirements_tools import TOOLS
from tests.requirements_transports import TRANSPORTS

REQUIREMENTS: Final[tuple[Requirement, ...]] = BASIC + TRANSPORTS + TOOLS
