// Drives one official MCP client for Node and prints what it saw as one JSON object.
//   node drive.mjs '{"client": "sdk" | "client", "era": "legacy" | "auto" | "modern", "url": … | "command": […], "calls": [[name, arguments], …]}'
// Any error the client raises while it lists ends the program with a non-zero code: that is what the tests are about.

const job = JSON.parse(process.argv[2]);
const negotiation = { legacy: undefined, auto: { mode: 'auto' }, modern: { mode: { pin: '2026-07-28' } } };

async function parts() {
  if (job.client === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return { Client, StdioClientTransport, StreamableHTTPClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return { Client, StdioClientTransport, StreamableHTTPClientTransport };
}

async function listAll(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

async function call(client, [name, args]) {
  try {
    return await client.callTool({ name, arguments: args });
  } catch (error) {
    return { raised: String(error), code: error.code };
  }
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await parts();
const options = negotiation[job.era] ? { versionNegotiation: negotiation[job.era] } : {};
const client = new Client({ name: 'tests', version: '1' }, options);
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: job.env, stderr: 'inherit' });
await client.connect(transport);
const tools = await listAll(client);
const results = [];
for (const each of job.calls ?? []) results.push(await call(client, each));
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), tools: job.names ? tools.map((tool) => tool.name) : tools, results }));
process.exit(0);
