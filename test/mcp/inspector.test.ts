/** The MCP Inspector's command-line client, used on our servers over stdio and HTTP. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { catalog, root } from "../contracts/transports.ts";

const token = "inspector-token-0123456789";
let serving: RunningHttpServer;
let address: string;
beforeAll(async () => {
  serving = await startHttpServer({ catalog, token });
  const { id } = serving.sessions.open({
    owner: "inspector",
    servers: [{ name: "banking", fixture: "small" }],
    seed: 1,
  });
  address = `${serving.url}${serving.mcpPath(id, "banking")}`;
});
afterAll(() => serving.close());

/** What the inspector prints, as JSON. */
function runInspector(target: readonly string[], args: readonly string[]): Promise<unknown> {
  const program = join(root, "node_modules/@modelcontextprotocol/inspector-cli/build/index.js");
  // it looks for its own package.json from the folder that it is started in
  const child = spawn(process.execPath, [program, ...target, ...args], { cwd: join(root, "test") });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (it: string) => (stdout += it));
  child.stderr.setEncoding("utf8").on("data", (it: string) => (stderr += it));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", code =>
      code === 0 ? resolve(JSON.parse(stdout)) : reject(new Error(stderr)),
    );
  });
}

const targets = {
  stdio: () => [
    process.execPath,
    join(root, "dist/cli.js"),
    "stdio",
    "banking",
    "--fixture",
    "small",
  ],
  HTTP: () => [address, "--transport", "http", "--header", `Authorization: Bearer ${token}`],
};

describe.each(["stdio", "HTTP"] as const)("over %s", way => {
  const ask = (method: string, ...more: readonly string[]) =>
    runInspector(targets[way](), ["--method", method, ...more]);

  test("lists the tools and calls one", async () => {
    const { tools } = (await ask("tools/list")) as {
      tools: { name: string; outputSchema: object; annotations: object }[];
    };
    expect(tools.map(it => it.name)).toEqual([...catalog.getServer("banking").tools.keys()]);
    expect(tools.find(it => it.name === "banking_transfer")).toMatchObject({
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: false, openWorldHint: false },
    });
    const called = await ask(
      "tools/call",
      "--tool-name",
      "banking_get_balance",
      "--tool-arg",
      "account_id=acc_101",
    );
    expect(called).toEqual({
      content: [
        { type: "text", text: `{"name":"Everyday","balance":3148.95,"available":3448.95}` },
      ],
      structuredContent: { name: "Everyday", balance: 3148.95, available: 3448.95 },
    });
  });

  test("lists and reads the state", async () => {
    const { resources } = (await ask("resources/list")) as { resources: { uri: string }[] };
    expect(resources.map(it => it.uri)).toContain("state://banking/accounts");
    const { resourceTemplates } = (await ask("resources/templates/list")) as {
      resourceTemplates: { uriTemplate: string }[];
    };
    expect(resourceTemplates.map(it => it.uriTemplate)).toEqual(["state://banking/{table}"]);
    const { contents } = (await ask("resources/read", "--uri", "state://banking/accounts")) as {
      contents: { text: string }[];
    };
    expect(JSON.parse(contents[0]!.text)).toEqual(
      catalog.getFixture("banking", "small").state["accounts"],
    );
  });
});
