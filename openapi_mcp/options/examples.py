"""Examples at the end of the help of commands, as they are typed."""

from typing import Final

SERVE: Final = """\b
Examples:
  openapi-mcp serve petstore.yaml
      for the client that starts it (stdio), or at a terminal over HTTP
  openapi-mcp serve https://api.example.com/openapi.json --include tag:pets
      only the operations with the tag `pets`
  OPENAPI_MCP_AUTH_TOKEN=... openapi-mcp serve petstore.yaml --host 0.0.0.0
      for other machines, whose clients send the token
  openapi-mcp serve petstore.yaml --config petstore.toml
      with options from a file; `openapi-mcp settings-schema` describes it
  openapi-mcp serve
      what openapi-mcp.toml in this folder says: one API or several; `openapi-mcp init` writes it
"""

INSPECT: Final = """\b
Examples:
  openapi-mcp inspect petstore.yaml
      the tools by tag with what each costs, and what is wrong with the document
  openapi-mcp inspect petstore.yaml --sort cost
      the most expensive tools first
  openapi-mcp inspect petstore.yaml createPet
      one tool: its arguments, credentials and schemas
  openapi-mcp inspect https://api.example.com --read-only --include tag:pets
      what these options leave
  openapi-mcp inspect petstore.yaml | cut -f1,3
      into a pipe: a line for each tool, with tabs between tool, method, path, title, arguments, tokens
  openapi-mcp inspect petstore.yaml --strict
      for CI: the exit code is 10 where there is a problem
"""

SEARCH: Final = """\b
Examples:
  openapi-mcp search petstore.yaml "who bought the cat"
      the tools for a task, the best first, as a model finds them in search mode
  openapi-mcp search petstore.yaml "who bought the cat" --explain
      why each was found: words that match, words that are similar, what it does
  openapi-mcp search petstore.yaml
      the topics of the API
  openapi-mcp search petstore.yaml --topic pets
      the tools with this tag, or whose paths begin so
  openapi-mcp search petstore.yaml "add a pet" --limit 1 | cut -f2
      into a pipe: a line for each tool, with tabs between rank, name, method, path, summary and reason
"""

CALL: Final = """\b
Examples:
  openapi-mcp call petstore.yaml getPet petId=4711
      call the tool `getPet` with one argument
  openapi-mcp call petstore.yaml listPets status=sold status=reserved limit=2
      a list: its argument is repeated
  openapi-mcp call petstore.yaml createPet --json '{"name": "Rex", "tags": ["dog"]}'
      all arguments as one JSON object
  openapi-mcp call petstore.yaml deletePet petId=4711 --dry-run
      print the HTTP request, without secrets, and send nothing
  openapi-mcp call petstore.yaml getInventory | jq .available
      into a pipe: the answer as it is
"""

LOGIN: Final = """\b
Examples:
  openapi-mcp login petstore.yaml --oauth oauth.client-id=my-client
      sign in to the API in a browser, as the client of the security scheme `oauth`
  openapi-mcp login petstore.yaml --oauth oauth.client-id=my-client --device
      on a machine without a browser: enter the code that is shown on another one
  openapi-mcp login petstore.yaml --oauth oauth.client-id=my-client --redirect-port 8765
      return to the port for which the client is registered
"""

LOGOUT: Final = """\b
Examples:
  openapi-mcp logout petstore.yaml --oauth oauth.client-id=my-client
      revoke the token of `login`, and remove it from this machine
"""

GENERATE: Final = """\b
Examples:
  openapi-mcp generate petstore.yaml petstore-mcp
      write the package into the folder `petstore-mcp`; its README says how to run it
  openapi-mcp generate petstore.yaml petstore-mcp --check
      for CI: whether the document has changed since; the exit code is 7 then
  openapi-mcp generate petstore.yaml petstore-mcp --include tag:pets --name pets
      only the operations with the tag `pets`, under another name
  openapi-mcp generate petstore.yaml petstore-mcp --bundle
      with the .mcpb archive that desktop clients install
"""

BUNDLE: Final = """\b
Examples:
  openapi-mcp bundle petstore-mcp
      make the archive of the package in the folder `petstore-mcp`
"""

CACHE: Final = """\b
Examples:
  openapi-mcp cache
      where compiled tools are kept, and how much space they take
  openapi-mcp cache clear
      remove them; the next start compiles its tools again
"""

SETTINGS_SCHEMA: Final = """\b
Examples:
  openapi-mcp settings-schema > settings.schema.json
      for an editor that completes and checks openapi-mcp.toml
"""

UNINSTALL: Final = """\b
Examples:
  openapi-mcp uninstall petstore.yaml --client claude-desktop
      remove what `install` wrote into the settings of Claude Desktop, and nothing else
  openapi-mcp uninstall petstore.yaml --client vscode --scope project
      the same in the settings of this folder
"""
