// Drives one official MCP client for Node and prints what it received as JSON, on the last line (as errands.py does).
//   node drive.mjs '{"client": "sdk" | "client", "era": "legacy" | "auto" | "modern", "url": … | "command": […], …}'
// with these jobs: "calls": [[name, arguments], …]; "progress": [[name, arguments, URL to fetch on each update], …];
// "cancel": [name, arguments, URL that answers when the call has begun]; "watch": true. Any unexpected error of the
// client ends the program with a non-zero code.

const job = JSON.parse(process.argv[2]);
const ERAS = { legacy: undefined, auto: { mode: 'auto' }, modern: { mode: { pin: '2026-07-28' } } };
const print = (value) => console.log(JSON.stringify(value));

async function parts() {
  if (job.client === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const callTool = (params, options) => client.callTool(params, undefined, options);
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, callTool };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const callTool = (params, options) => client.callTool(params, options);
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, callTool };
}

async function names() {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools.map((tool) => tool.name);
}

async function callWithProgress([name, args, seen]) {
  const updates = [];
  const onprogress = ({ progress, total, message }) => {
    updates.push([progress, total ?? null, message ?? null]);
    fetch(seen);
  };
  return { result: await callTool({ name, arguments: args }, { onprogress }), updates };
}

async function callUntil([name, args, begun]) {
  const abort = new AbortController();
  const call = callTool({ name, arguments: args }, { signal: abort.signal }).then(
    () => { throw new Error('the call was answered'); },
    (error) => { if (!abort.signal.aborted) throw error; },
  );
  const answer = await fetch(begun);
  if (!answer.ok) throw new Error(`the call did not begin: ${answer.status}`);
  abort.abort();
  await call;
}

// In the handshake era the client receives changes on a stream; it opens it by itself and does not report when.
let opened;
const streaming = new Promise((resolve) => { opened = resolve; });
async function fetching(url, init) {
  const response = await fetch(url, init);
  if (init?.method === 'GET') opened();
  return response;
}

let heard;
const changed = new Promise((resolve) => { heard = resolve; });
const onChanged = (error, tools) => heard({ error: error && String(error), tools: tools?.map((tool) => tool.name) });

const { Client, StdioClientTransport, StreamableHTTPClientTransport, callTool } = await parts();
const options = job.watch ? { listChanged: { tools: { debounceMs: 0, onChanged } } } : {};
if (ERAS[job.era]) options.versionNegotiation = ERAS[job.era];
const client = new Client({ name: 'tests', version: '1' }, options);
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url), { fetch: fetching })
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: job.env, stderr: 'inherit' });
const seen = {};
const setVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => { seen.version = version; setVersion?.(version); };
await client.connect(transport);
seen.version = client.getNegotiatedProtocolVersion?.() ?? seen.version; // the SDK reports the version to its transport only
seen.tools = await names();
seen.results = [];
for (const [name, args] of job.calls ?? []) seen.results.push(await callTool({ name, arguments: args }));
seen.progress = [];
for (const each of job.progress ?? []) seen.progress.push(await callWithProgress(each));
if (job.cancel) {
  await callUntil(job.cancel);
  seen.afterwards = await names();
}
if (job.watch) {
  if (job.url && seen.version < '2026') await streaming;
  print('listening');
  const change = await changed;
  print('heard');
  if (change.error) throw new Error(change.error);
  seen.changed = change.tools;
}
await client.close();
print(seen);
process.exit(0);
