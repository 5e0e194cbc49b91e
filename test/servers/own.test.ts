/** Servers that a workspace defines in TypeScript. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { call as callTool } from "../../src/cli/call.ts";
import { graph } from "../../src/cli/graph.ts";
import { newServer } from "../../src/cli/newServer.ts";
import { servers as listServers } from "../../src/cli/servers.ts";
import { stdio } from "../../src/cli/stdio.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import { tools } from "../../src/cli/tools.ts";
import { openCatalog, openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import type { Outcome } from "../../src/environment/outcome.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { listOwnServers } from "../../src/servers/own/ownServers.ts";
import { UserError } from "../../src/userError.ts";
import { checkReplay } from "../../src/trajectory/replay.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";
import { runCommand } from "../cli/terminal.ts";
import { catalog as shippedCatalog, root } from "../contracts/transports.ts";
import { synthesizeTasks } from "../synthesis/synthesizeTasks.ts";

const shipped = await loadServers();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-own-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes files of `prove/servers`, and a fixture for the counter. */
function write(files: Readonly<Record<string, string>>): void {
  const fixture = {
    format: "prove/fixture@1",
    server: "counter",
    name: "small",
    now: "2026-03-09T09:00",
    state: { counts: { count_101: { label: "Cups", value: 2 } } },
  };
  const all = {
    ...Object.fromEntries(
      Object.entries(files).map(([name, text]) => [`prove/servers/${name}`, text]),
    ),
    "prove/fixtures/counter/small.fixture.json": JSON.stringify(fixture),
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

async function open(load = 10_000, call = 10_000): Promise<Catalog> {
  const folders = [join(folder, "prove/fixtures")];
  const own = await listOwnServers(folders, shipped, { load, call });
  return openCatalog(shipped, folders, undefined, own);
}

const openSession = (catalog: Catalog) =>
  openSessionByName(catalog, { servers: [{ name: "counter", fixture: "small" }], seed: 1 });

/** A server whose `add` runs the code. */
const counter = (add = "count.value += amount; return { value: count.value };", more = "") => `
import { z } from "zod";
import { createToolFactory, defineServer, defineStateRule, findEntity, id } from "prove-rl/server";
import { describe } from "./describe.ts";

const State = z.strictObject({
  counts: z.record(z.string(), z.strictObject({ label: z.string(), value: z.int() })),
});
type State = z.infer<typeof State>;
const tool = createToolFactory(State);
const add = tool({
  effect: "write",
  summary: "Add to a count.",
  input: { count_id: id("count"), amount: z.int() },
  returns: { value: z.int() },
  run(state, { count_id, amount }) {
    const count = findEntity(state.counts, count_id, "count");
    ${add}
  },
});
export const server = defineServer({
  name: "counter",
  category: "Test",
  summary: describe("counts"),
  schema: State,
  tools: { add${more} },
  invariants: [
    defineStateRule<State>("A count is not negative.", function* ({ counts }) {
      for (const [key, { value }] of Object.entries(counts)) if (value < 0) yield key + " is negative";
    }),
  ],
});
`;
const describeModule = {
  "counter/describe.ts": `
import words from "./words.json" with { type: "json" };
export const describe = (what: keyof typeof words): string => words[what];`,
  "counter/words.json": `{ "counts": "things that are counted" }`,
};

const call = async (code: string, amount: number, limit?: number): Promise<Outcome> => {
  write({ "counter/server.ts": counter(code), ...describeModule });
  const session = openSession(await open(undefined, limit));
  const before = session.digest;
  const { outcome, digest } = session.call("counter_add", { count_id: "count_101", amount });
  if (outcome.kind !== "ok") expect(digest).toBe(before);
  return outcome;
};

test("a server with modules and data of its own is called, without any package in the folder", async () => {
  expect(await call("count.value += amount; return { value: count.value };", 3)).toEqual({
    kind: "ok",
    value: { value: 5 },
  });
  expect((await open()).getServer("counter").summary).toBe("things that are counted");
});

test("nothing of it runs before it is needed", async () => {
  write({ "counter/server.ts": "globalThis.hasRunOwnServer = true;" });
  const catalog = await open();
  expect(catalog.hasServer("counter")).toBe(true);
  expect(catalog.tools.get("banking_transfer")).toBeDefined();
  expect(globalThis).not.toHaveProperty("hasRunOwnServer");
  expect(catalog.tools.has("counter_add")).toBe(false);
  expect(globalThis).toHaveProperty("hasRunOwnServer");
});

test("nothing is loaded for an editor whose workspace is not trusted", async () => {
  write({ "counter/server.ts": counter(), ...describeModule });
  vi.stubEnv("PROVE_RESTRICTED", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await open()).own.size).toBe(0);
});

describe("a call is broken, and changes nothing,", () => {
  test.each([
    ["if it throws", "throw new Error('oh');", 1, /counter_add broke: Error: oh/],
    [
      "if its result is not what it declares",
      "return { value: 'x' };",
      1,
      /not what it declares: value/,
    ],
    [
      "if it breaks a rule",
      "count.value -= amount; return { value: 0 };",
      9,
      /"A count is not negative\."/,
    ],
    [
      "if its state is not valid",
      "count.value = 0.5; return { value: 0 };",
      1,
      /counts\.count_101\.value/,
    ],
  ])("%s", async (_, code, amount, message) => {
    expect(await call(code, amount)).toMatchObject({
      kind: "broken",
      message: expect.stringMatching(message) as string,
    });
  });

  test("if it does not end", async () => {
    expect(await call("for (;;);", 1, 200)).toMatchObject({ kind: "broken" });
  });
});

describe("a faulty server says what to do, and others can be used:", () => {
  const faults: readonly [
    fault: string,
    files: Readonly<Record<string, string>>,
    message: RegExp,
  ][] = [
    [
      "throws",
      { "bad/server.ts": "\n\nthrow new TypeError('no luck');" },
      /bad.server\.ts:3 cannot be loaded: no luck/,
    ],
    [
      "throws in another file",
      { "bad/server.ts": "import './state.ts';", "bad/state.ts": "\nundefined.x;" },
      /bad.state\.ts:2 cannot be loaded: Cannot read properties/,
    ],
    [
      "is no TypeScript",
      { "bad/server.ts": "const a = 1;\nconst b = {;" },
      /bad.server\.ts:2 cannot be loaded/,
    ],
    [
      "imports a file that is not there",
      { "bad/server.ts": "import './x.ts';" },
      /imports \.\/x\.ts, which is not there/,
    ],
    [
      "imports a package that is not there",
      { "bad/server.ts": "import 'left-pad-7';" },
      /imports left-pad-7, which is not there: install it/,
    ],
    ["exports nothing", { "bad/server.ts": "export {};" }, /exports no server/],
    ["exports a value", { "bad/server.ts": "export const server = 7;" }, /exports no server/],
    [
      "has another name than its folder",
      { "bad/server.ts": counter(), "bad/describe.ts": "export const describe = String;" },
      /defines the server counter, and its folder is named bad/,
    ],
    [
      "lacks a part",
      {
        "bad/server.ts":
          "import { defineServer } from 'prove-rl/server';\nexport const server = defineServer({ name: 'bad' });",
      },
      /bad.server\.ts:2 cannot be loaded: the server\.category: /,
    ],
    [
      "has two tools of the same name",
      {
        "counter/server.ts": counter(
          undefined,
          ", add: tool({ effect: 'read', summary: 'Other.', input: {}, returns: {}, run: () => ({}) })",
        ),
        ...describeModule,
      },
      /a tool that its server does not have \(Add to a count\.\)/,
    ],
    [
      "has the name of a server that ships",
      { "banking/server.ts": "export {};" },
      /has the name of another server, banking: rename/,
    ],
  ];

  test.each(faults)("%s", async (_, files, message) => {
    write(files);
    const catalog = await open();
    const [server] = catalog.own.values();
    expect(server!.tools.size).toBe(0);
    expect(() => server!.checkAccess!()).toThrow(message);
    expect(() => server!.checkAccess!()).toThrow(UserError);
    expect(catalog.getServer("banking").tools.size).toBeGreaterThan(0);
    const { code, out } = await runCommand(listServers, [], { catalog });
    expect(code).toBe(0);
    expect(out.filter(it => it.includes("prove"))).toHaveLength(1);
  });

  test("does not end", async () => {
    write({ "counter/server.ts": "for (;;);" });
    const catalog = await open(200);
    expect(() => openSession(catalog)).toThrow(/was not loaded within 0.2 seconds/);
  });

  test("has a tool of another server", async () => {
    const define = (name: string, tool: string) => `
import { createToolFactory, defineServer, z } from "prove-rl/server";
const tool = createToolFactory(z.object({}));
const server = defineServer({ name: "${name}", category: "Test", summary: "Nothing.", schema: z.object({}),
  tools: { ${tool}: tool({ effect: "read", summary: "Nothing.", input: {}, returns: {}, run: () => ({}) }) } });
export { server as default };`;
    write({
      "shop/server.ts": define("shop", "item_list"),
      "shop_item/server.ts": define("shop_item", "list"),
    });
    const catalog = await open();
    expect(catalog.getServer("shop").tools.size).toBe(1);
    expect(() => catalog.getServer("shop_item").checkAccess!()).toThrow(
      /has the tool shop_item_list, and so has the server shop/,
    );
  });
});

test.each([
  ["tools", tools, ["counter"]],
  ["stdio", stdio, ["counter"]],
  ["graph", graph, ["counter"]],
  ["call", callTool, ["counter_add", "{}"]],
  ["synthesize", synthesize, ["--servers", "counter", "--count", "3", "--out", "a.tasks.jsonl"]],
] as const)("%s says why a server has no tools, and leaves no file", async (_, command, args) => {
  write({ "counter/server.ts": 'throw new Error("boom");' });
  const catalog = await open();
  await expect(runCommand(command, args, { cwd: folder, catalog })).rejects.toThrow(
    /counter\/server.ts:1 cannot be loaded: boom/,
  );
  expect(existsSync(join(folder, "a.tasks.jsonl"))).toBe(false);
});

test("tasks on other servers are made without running it", async () => {
  write({ "counter/server.ts": 'globalThis.counterHasRun = true; throw new Error("boom");' });
  const { own } = await open();
  const folders = [join(folder, "prove/fixtures"), join(root, "resources/servers")];
  const catalog = openCatalog(shipped, folders, undefined, [...own.values()]);
  const args = ["--servers", "banking", "--count", "8", "--out", "a.tasks.jsonl"];
  expect((await runCommand(synthesize, args, { cwd: folder, catalog })).code).toBe(0);
  expect(globalThis).not.toHaveProperty("counterHasRun");
});

describe("new-server", () => {
  const create = (name: string) =>
    runCommand(newServer, [name], { cwd: folder, catalog: shippedCatalog });

  test("writes a server on which tasks can be made at once, and whose verdicts hold", async () => {
    const { out } = await create("my_library");
    expect(out).toEqual([
      "prove/servers/my_library/server.ts",
      "prove/servers/my_library/templates.json",
      "prove/fixtures/my_library/full.fixture.json",
    ]);
    const folders = [join(folder, "prove/fixtures"), join(root, "resources/servers")];
    const own = await listOwnServers(folders, shipped);
    const catalog = openCatalog(shipped, folders, undefined, own);
    const { tasks } = await synthesizeTasks(12, { catalog, servers: ["my_library"] });
    const calls = tasks.flatMap(it => listCalls(it.trajectory).map(call => call.name));
    expect(new Set(calls)).toEqual(new Set(own[0]!.tools.keys()));
    for (const it of tasks) expect(checkReplay(catalog, it.trajectory).verdict).toBe("same");
  });

  test("refuses names that are taken or not valid, and overwrites nothing", async () => {
    await expect(create("banking")).rejects.toThrow(/there is a server banking already/);
    await expect(create("My Library")).rejects.toThrow(/cannot be the name of a server/);
    write({ "my_library/templates.json": "{}" });
    await expect(create("my_library")).rejects.toThrow(/templates\.json exists/);
  });
});
