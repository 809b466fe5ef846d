// What the official TypeScript client sees of `dsh mcp`: `client.mjs DSH ARGUMENT…` prints it as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const { HOME, PATH, XDG_STATE_HOME } = process.env;
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
const answers = [{ action: "accept", content: { allow: true } }, { action: "decline" }];
client.setRequestHandler(ElicitRequestSchema, async () => answers.shift());
await client.connect(new StdioClientTransport({ command, args, env: { HOME, PATH, XDG_STATE_HOME }, stderr: "inherit" }));

// It checks `structuredContent` against the output schemas that are listed.
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const read = await call("read", { file_path: "a.txt" });
const unknown = await call("raed", {});

const fifty = "for (let i = 0; i < 50; i++) await tools.read({ file_path: 'a.txt' }); return 50";
const progress = [];
const program = await call("run_code", { code: fifty, description: "Reads fifty times" }, {
  onprogress: ({ progress: done }) => progress.push(done),
});

const forever = "await tools.read({ file_path: 'a.txt' }); await new Promise((done) => setTimeout(done, 600000))";
const stop = new AbortController();
const cancelled = await call("run_code", { code: forever, description: "Waits for long" }, {
  signal: stop.signal,
  onprogress: () => stop.abort(),
}).then(() => false, () => true);
const after = await call("glob", { pattern: "*.txt" });

// Beyond the workspace the user is asked, who says yes and then no.
const beyond = { sandbox_permissions: "danger-full-access", justification: "It belongs there." };
const asked = [];
for (const content of ["one", "two"]) {
  const written = await call("write", { file_path: "../beyond.txt", content, ...beyond });
  asked.push(written._meta?.["dsh/error"].code ?? "ok");
}

console.log(JSON.stringify({
  server: client.getServerVersion().name,
  tools,
  read: read.structuredContent.lines[0].text,
  unknown: [unknown.isError, unknown._meta["dsh/error"].code],
  program: program.structuredContent.result,
  // It drops a notification that is read together with the answer, so that the last may be missing.
  progress: progress.length > 0,
  ascending: progress.every((done, at) => at === 0 || done > progress[at - 1]),
  cancelled,
  after: after.isError,
  asked,
}));
await client.close();
