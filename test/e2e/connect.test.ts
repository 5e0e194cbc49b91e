/**
 * A third-party server in the Servers view: named in mcp.json, started on a click, called with a
 * form, ended with its session.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repository } from "./packaged.ts";
import { checkGone, checkSeen, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const memory = join(repository, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");
const entry = {
  command: process.execPath,
  args: [memory],
  env: { MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
};

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/mcp.json": JSON.stringify(
      { servers: { notes: entry, play: { ...entry, disposable: true } } },
      undefined,
      2,
    ),
  });
  await workbench.show("PROVE");
  await workbench.fold("Tasks", "Runs");
  await checkSeen(servers().filter({ hasText: /^notes.*connected · read-only/ }));
});
afterAll(() => workbench.close());

test("it is started when a session is opened, and shows its tools", async () => {
  const notes = servers().filter({ hasText: /^notes/ });
  await workbench.act(notes, "Open Session…");
  await workbench.expand(notes);
  await checkSeen(servers().filter({ hasText: /^Session 1.*as started/ }));
  await workbench.expand(servers().filter({ hasText: /^Tools.*9/ }));
  await workbench.act(servers().filter({ hasText: /^read_graph/ }), "Call Tool…");
  await checkSeen(workbench.notification('read_graph: ok — {"entities":[],"relations":[]}'));
  await checkSeen(servers().filter({ hasText: /^1 read_graph.*ok/ }));
  await workbench.picture("connected");
});

test("one that is disposable is started once a person has seen what that means", async () => {
  const play = servers().filter({ hasText: /^play/ });
  const asked = workbench.page.locator(".monaco-dialog-box");
  await workbench.act(play, "Open Session…");
  await checkSeen(asked.filter({ hasText: memory }));
  await workbench.picture("connect-disposable");
  await asked.getByRole("button", { name: "Start" }).click();
  await workbench.expand(play);
  const session = servers().filter({ hasText: /^Session 2/ });
  await workbench.act(session, "Call Tool…");
  await workbench.answer("Which tool to call", "create_entities");
  await workbench.choice("Add one").click();
  await workbench.answer("name: ", "Ana");
  await workbench.answer("entityType: ", "person");
  await workbench.answer("observations: ", "likes tea");
  await workbench.type("leave empty", "");
  await workbench.picture("form-list");
  await workbench.page.keyboard.press("Enter");
  await workbench.choice("Done").click();
  await checkSeen(workbench.notification("create_entities: ok"));
  expect(readFileSync(join(workbench.folder, "memory.jsonl"), "utf8")).toContain("likes tea");
  await workbench.act(session, "Close Session");
  await checkGone(session);
});

test("a file that does not fit says so in the tree", async () => {
  writeFileSync(
    join(workbench.folder, "prove/mcp.json"),
    '{"servers": {"notes": {"comand": "node"}}}',
  );
  await checkSeen(
    servers().filter({ hasText: /^mcp.json.*is not a file of MCP servers: at \/servers\/notes/ }),
  );
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
