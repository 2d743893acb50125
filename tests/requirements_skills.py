"""The requirements of the extension for skills, for a server whose skill is made from a document.

Rules for hosts (approval, verification, caching) do not bind it; nor do those about nested skills, since it has none,
and about other schemes of URIs. Section names are those of ext-skills, specification/stable/skills.
"""

from typing import Final

from tests.requirement import ALL, STATELESS, Requirement, must, should

SOURCE: Final = "tests/skills/test_source.py::"
COMPOSITION: Final = "tests/skills/test_composition.py::"

SKILLS: Final[tuple[Requirement, ...]] = (
    must(
        "skills.capability",
        ALL,
        "ext-skills, Capability Negotiation",
        "A server with the extension also declares resources, and has skills/list and skills/get.",
        SOURCE + "test_capabilities_have_the_extension_with_its_settings_inline_and_resources",
        SOURCE + "test_initialize_has_the_same_capabilities",
        SOURCE + "test_entry_of_a_skill_describes_each_file_once",
    ),
    must(
        "skills.directory-read",
        ALL,
        "ext-skills, Capability Negotiation; Reading Directories",
        "With directoryRead, every folder of a skill is listed: its files, and its folders as inode/directory.",
        SOURCE + "test_folders_list_their_files_and_folders",
    ),
    must(
        "skills.format",
        ALL,
        "ext-skills, Skill Format; Agent Skills, SKILL.md format",
        "SKILL.md begins with YAML that has a name of 1 to 64 characters [a-z0-9-] and a description of at most 1024.",
        COMPOSITION + "test_any_text_makes_a_valid_skill",
        COMPOSITION + "test_large_api_keeps_to_the_limits",
        COMPOSITION + "test_slug",
    ),
    must(
        "skills.name-in-uri",
        ALL,
        "ext-skills, Resource Mapping; Frontmatter",
        "The last segment before SKILL.md is the skill's name, and the entry's frontmatter is that of the file.",
        SOURCE + "test_frontmatter_is_that_of_the_file",
    ),
    should(
        "skills.scheme",
        ALL,
        "ext-skills, Resource Mapping; Names",
        "URIs have the scheme skill://, a first segment that is a valid reg-name, and names that are unique.",
        SOURCE + "test_entry_of_a_skill_describes_each_file_once",
        COMPOSITION + "test_any_text_makes_a_valid_skill",
    ),
    should(
        "skills.metadata",
        ALL,
        "ext-skills, Resource Metadata",
        "The resource SKILL.md is text/markdown, with the name and the description of the skill.",
        SOURCE + "test_resources_are_the_files_and_the_first_has_the_names_of_the_skill",
    ),
    must(
        "skills.manifest",
        ALL,
        "ext-skills, Resources",
        "`resources` of an entry lists every file of the skill once, with its digest and its size in bytes.",
        SOURCE + "test_entry_of_a_skill_describes_each_file_once",
    ),
    should(
        "skills.limits",
        ALL,
        "ext-skills, Limits",
        "A skill has at most 512 files and 16 MiB.",
        COMPOSITION + "test_large_api_keeps_to_the_limits",
    ),
    must(
        "skills.results",
        STATELESS,
        "ext-skills, Listing Skills; Getting a Skill",
        "Results are complete, have ttlMs and cacheScope, and that of skills/get has no cursor.",
        SOURCE + "test_results_say_how_long_they_are_valid_and_are_complete",
    ),
    must(
        "skills.errors",
        ALL,
        "ext-skills, Error Handling",
        "A URI that is no skill, no file or no folder of this server is answered with -32602.",
        SOURCE + "test_uri_that_is_not_served_is_an_error_with_the_uri",
        SOURCE + "test_bad_parameters_are_errors",
    ),
    should(
        "skills.informative-errors",
        ALL,
        "ext-skills, Error Handling; server/resources, Error Handling",
        "An error says what is wrong, with the URI in its data.",
        SOURCE + "test_uri_that_is_not_served_is_an_error_with_the_uri",
    ),
    must(
        "skills.name-header",
        STATELESS,
        "basic/transports/streamable-http, Standard MCP Request Headers",
        "The header Mcp-Name of resources/read equals params.uri, else the request is refused with -32020.",
        SOURCE + "test_header_repeats_the_uri_of_a_read",
    ),
)
