"""The requirements of MCP for a server of tools: each MUST and SHOULD over stdio and Streamable HTTP, and its tests.

`test_requirements` checks both directions: each requirement has tests, all of which exist, and each test of the
protocol proves a requirement. Rules that do not bind such a server are not listed: sampling and roots, which it does
not request; prompts and completion, which it does not declare; resumable streams and HTTP+SSE, which are optional or
deprecated. Resources are those of its skill. Of the pages about authorization every rule is listed, those for clients
and authorization servers with the reason why they have no test.
"""

from typing import Final

from tests.requirement import Requirement
from tests.requirements_authorization import AUTHORIZATION
from tests.requirements_basic import BASIC
from tests.requirements_elicitation import ELICITATION
from tests.requirements_skills import SKILLS
from tests.requirements_tasks import TASKS
from tests.requirements_tools import TOOLS
from tests.requirements_transports import TRANSPORTS

REQUIREMENTS: Final[tuple[Requirement, ...]] = BASIC + TRANSPORTS + TOOLS + ELICITATION + TASKS + SKILLS + AUTHORIZATION
