/** `prove/mcp.json` as people write it: what is faulty in one entry costs only that entry. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, onTestFinished, test } from "vitest";
import { findServerEntry, parseServerEntries, mcpConfigSchema } from "../../src/mcp/mcpConfig.ts";

const workspace = join(tmpdir(), "shop");
const parse = (text: string) => parseServerEntries(text, "prove/mcp.json", workspace);
const good = { command: "node" };

describe("what VS Code and other programs write is read", () => {
  const cases: [what: string, text: string, names: string[]][] = [
    ["comments", '// mine\n{"servers": {/* one */ "a": {"command": "x"}}}', ["a"]],
    ["trailing commas", '{"servers": {"a": {"command": "x", "args": ["y",],},},}', ["a"]],
    ["a byte order mark", '\ufeff{"servers": {"a": {"command": "x"}}}', ["a"]],
    ["inputs", '{"inputs": [{"id": "key"}], "servers": {"a": {"command": "x"}}}', ["a"]],
    ["other keys", '{"sandbox": {}, "servers": {"a": {"command": "x"}}}', ["a"]],
    ["mcpServers", '{"mcpServers": {"a": {"command": "x"}}}', ["a"]],
    [
      "both",
      '{"mcpServers": {"a": {"command": "x"}}, "servers": {"b": {"command": "x"}}}',
      ["a", "b"],
    ],
    [
      "a name of the gallery",
      '{"servers": {"io.example/notes": {"command": "x"}}}',
      ["io.example/notes"],
    ],
    [
      "any name",
      '{"servers": {"__proto__": {"command": "x"}, "記録 ": {"command": "x"}}}',
      ["__proto__", "記録 "],
    ],
    [
      "nulls",
      '{"servers": {"a": {"command": "x", "args": null, "env": null, "url": null}}}',
      ["a"],
    ],
    ["an empty file", "", []],
    ["no server", '{"servers": {}}', []],
  ];
  test.each(cases)("%s", (_, text, names) => {
    const { entries, errors } = parse(text);
    expect([...entries.keys()]).toEqual(names);
    expect(errors.size).toBe(0);
    // the editor does not mark what is read
    if (text !== "")
      expect(mcpConfigSchema.safeParse(parseJsonc(text.replace("\ufeff", ""))).success).toBe(true);
  });

  test("keys that change nothing here are kept for a note", () => {
    const odd = {
      ...good,
      type: "stdio",
      gallery: true,
      version: "1",
      autoApprove: ["x"],
      timeout: 60,
      dev: {},
    };
    expect(parse(JSON.stringify({ servers: { odd } })).entries.get("odd")!.ignoredKeys).toEqual([
      "gallery",
      "version",
      "autoApprove",
      "timeout",
      "dev",
    ]);
  });

  test.each([{ disabled: true }, { enabled: false }])("%j leaves a server out", more => {
    const text = JSON.stringify({
      servers: { remote: { url: "https://example.com", ...more }, good },
    });
    const { entries, errors, disabled } = parse(text);
    expect([[...entries.keys()], errors.size, [...disabled]]).toEqual([["good"], 0, ["remote"]]);
    expect(mcpConfigSchema.safeParse(JSON.parse(text)).success).toBe(true);
  });

  test("the folder, its name and the home folder are filled in", () => {
    const it = {
      command: "~/bin/run",
      args: ["${workspaceFolder}/a", "--name=${workspaceFolderBasename}", "~", "a~b"],
      env: { HOME: "${userHome}", COLOUR: "blue", NONE: null },
      cwd: "~/work",
    };
    expect(parse(JSON.stringify({ servers: { it } })).entries.get("it")).toMatchObject({
      command: join(homedir(), "bin/run"),
      args: [`${workspace}/a`, "--name=shop", homedir(), "a~b"],
      env: { HOME: homedir(), COLOUR: "blue" },
      cwd: join(homedir(), "work"),
    });
  });
});

describe("a faulty entry costs only itself, and its error says where and why", () => {
  const cases: [entry: unknown, what: RegExp, remedy: RegExp][] = [
    [{ url: "https://example.com/mcp" }, /url is for a remote server/, /write the command/],
    [{ type: "http", url: "x" }, /remote server/, /write the command/],
    [{ ...good, type: "sse" }, /type sse is for a remote server/, /write the command/],
    [{ ...good, headers: {} }, /headers is for a remote server/, /write the command/],
    [{ ...good, envFile: ".env" }, /envFile is not read/, /into env/],
    [{ ...good, sandboxEnabled: true }, /sandboxEnabled is not supported/, /remove it/],
    [{ ...good, disabledTools: ["x"] }, /disabledTools is not supported/, /remove it/],
    [{ ...good, disposabel: true }, /the key disposabel is not known/, /disposable/],
    [
      { ...good, env: { PORT: 8080 } },
      /env\.PORT must be a text, not 8080/,
      /write "8080" in quotes/,
    ],
    [{ ...good, args: "-y x" }, /args must be a list, not "-y x"/, /correct it/],
    [{ ...good, args: ["-y", 5] }, /args\[1\] must be a text, not 5/, /write "5" in quotes/],
    [{ ...good, disposable: "yes" }, /disposable must be true or false, not "yes"/, /correct it/],
    [{ command: ["npx", "x"] }, /command must be a text, not a list/, /correct it/],
    [{ command: "" }, /command is empty/, /fill it in/],
    [{}, /command is missing/, /add the program/],
    ["npx", /it must be an object, not "npx"/, /correct it/],
  ];
  test.each(cases)("%j", (odd, what, remedy) => {
    const { entries, errors } = parse(
      `{\n"servers": {\n"good": {"command": "node"},\n"odd": ${JSON.stringify(odd)}}}`,
    );
    expect([...entries.keys()]).toEqual(["good"]);
    expect([...errors.keys()]).toEqual(["odd"]);
    const error = errors.get("odd")!;
    expect(error.what).toMatch(/^prove\/mcp\.json:4, server odd: /);
    expect(error.what).toMatch(what);
    expect(error.remedy).toMatch(remedy);
  });

  const variables = [
    "${input:key}",
    "${env:PROVE_TOKEN}",
    "${command:pick}",
    "${config:a.b}",
    "${API_KEY}",
    "${API_KEY:-none}",
    "${workspaceRoot}",
    "${",
    "{workspaceFolder}",
    "{env:API_KEY}",
  ];
  test.each(variables)("%s is never passed on", text => {
    for (const odd of [
      { command: `./${text}` },
      { ...good, args: ["--x", `a${text}b`] },
      { ...good, env: { KEY: text } },
      { ...good, env: { [text]: "x" } },
      { ...good, cwd: `${text}/x` },
    ]) {
      const { entries, errors } = parse(JSON.stringify({ servers: { odd, good } }));
      expect([...entries.keys()]).toEqual(["good"]);
      expect(errors.get("odd")!.what).toContain(`has ${text}`);
      expect(errors.get("odd")!.what).toContain("which is not filled in");
    }
  });

  test("two servers of one name", () => {
    const { entries, errors } = parse(
      '{"servers": {"a": {"command": "x"}, "b": {"command": "x"}, "a": {"command": "y"}}}',
    );
    expect([...entries.keys()]).toEqual(["b"]);
    expect(errors.get("a")!.message).toMatch(/two servers of this name: rename one/);
  });
});

test.each([
  [
    "no JSON",
    '{"servers": {\n"a": {"command": "x"',
    /^prove\/mcp\.json:2 is not JSON \(close brace expected\)/,
  ],
  ["a list", "[]", /^prove\/mcp\.json:1 is not a file of MCP servers: it must be an object/],
  ["a list of servers", '{\n"servers": []}', /^prove\/mcp\.json:2 .*servers must be an object/],
  [
    "servers under another key",
    '{"server": {}}',
    /has no servers, only server: name them under "servers"/,
  ],
  ["lists without an end", `{"servers": {"a": ${"[".repeat(100_000)}`, /is nested too deeply/],
])("%s is an error of the whole file", (_, text, why) => expect(() => parse(text)).toThrow(why));

test("many faulty entries are read in one pass", () => {
  const faulty = Array.from({ length: 60_000 }, (_, i) => `"s${i}": ${i}`).join(",\n");
  const { errors } = parse(`{"servers": {\n${faulty}}}`);
  expect(errors.get("s59999")!.what).toMatch(/^prove\/mcp\.json:60001,/);
});

test("a name that cannot be used says what is wrong, and one that is missing lists the others", () => {
  const folder = mkdtempSync(join(tmpdir(), "prove-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "mcp.json");
  const find = (name: string) => () => findServerEntry(file, folder, name);
  expect(find("memory")).toThrow(/has no server memory: write {"servers": {"memory": {"command"/);
  writeFileSync(
    file,
    JSON.stringify({ servers: { a: good, b: good, off: { ...good, disabled: true }, bad: {} } }),
  );
  expect(find("memory")).toThrow(/has no server memory: choose one of a, b/);
  expect(find("off")).toThrow(/off is disabled in .*mcp\.json: enable it/);
  expect(find("bad")).toThrow(/server bad: command is missing/);
});
