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
const remote = { url: "https://example.com/mcp" };

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

/** What is to be changed in each entry of a file; undefined for one that works. */
const files: [program: string, text: string, Record<string, RegExp | undefined>][] = [
  [
    "VS Code's mcp.json",
    `{
      // asked for when a server starts
      "inputs": [
        { "type": "promptString", "id": "tracker-key", "description": "Key", "password": true },
        { "type": "pickString", "id": "level", "options": ["info", "debug"], "default": "info" },
      ],
      "servers": {
        "browser": { "command": "npx", "args": ["-y", "@example/browser-mcp@latest"] },
        "tracker": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@example/tracker"],
          "env": { "TRACKER_KEY": "\${input:tracker-key}" },
        },
        "hub": { "type": "http", "url": "https://api.example.com/mcp/" },
        "local-http": { "url": "unix:///tmp/server.sock" },
        "notes": {
          "type": "sse",
          "url": "http://localhost:3001/sse",
          "headers": { "Authorization": "Bearer \${input:tracker-key}" },
        },
        "image": {
          "command": "docker",
          "args": ["run", "-i", "--rm", "--mount", "type=bind,src=\${workspaceFolder},dst=/work"],
        },
        "own": {
          "type": "stdio",
          "command": "node",
          "cwd": "\${workspaceFolder}",
          "args": ["./build/index.js"],
          "dev": { "watch": "build/**/*.js", "debug": { "type": "node" } },
        },
        "fetch": { "command": "uvx", "args": ["mcp-fetch"], "envFile": "\${workspaceFolder}/.env" },
        "caged": {
          "command": "npx",
          "args": ["x"],
          "sandboxEnabled": true,
          "sandbox": { "network": { "allowedDomains": ["example.com"] } },
        },
        "io.github.example/weather": {
          "type": "stdio",
          "command": "npx",
          "args": ["weather@1.2.3"],
          "gallery": "https://api.example.com",
          "version": "1.2.3",
        },
      },
    }`,
    {
      browser: undefined,
      tracker: /env\.TRACKER_KEY has \$\{input:tracker-key\}.*write the value itself/,
      hub: undefined,
      "local-http": /url is not an address that begins with https:/,
      notes: /type must be .*http.*, not "sse": .*SSE alone .* not supported/,
      image: undefined,
      own: undefined,
      fetch: /envFile is not read: write its variables into env/,
      caged: /sandbox is not supported|sandboxEnabled is not supported/,
      "io.github.example/weather": undefined,
    },
  ],
  [
    "VS Code's settings.json",
    `{
      "editor.fontSize": 14,
      "chat.mcp.discovery.enabled": true,
      "mcp": {
        "inputs": [],
        "servers": { "time": { "command": "python", "args": ["-m", "mcp_time"], "env": {} } },
      },
    }`,
    { time: undefined },
  ],
  [
    "Cursor's mcp.json",
    `{
      "mcpServers": {
        "cli": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "some-server"],
          "env": { "API_KEY": "value" }
        },
        "with-file": { "command": "python", "args": ["\${workspaceFolder}/s.py"], "envFile": ".env" },
        "remote": {
          "url": "http://localhost:3000/mcp",
          "headers": { "Authorization": "Bearer \${env:MY_TOKEN}" }
        },
        "signed-in": {
          "url": "https://api.example.com/mcp",
          "auth": { "CLIENT_ID": "\${env:ID}", "scopes": ["read"] }
        },
        "home": { "command": "\${userHome}/bin/serve", "args": ["--in", "\${workspaceFolderBasename}"] },
        "from-env": { "command": "npx", "args": ["x"], "env": { "KEY": "\${env:KEY}" } },
        "split": { "command": "node", "args": ["a\${pathSeparator}b\${/}c"] }
      }
    }`,
    {
      cli: undefined,
      "with-file": /envFile is not read/,
      remote: undefined,
      "signed-in": /auth is not supported.*: write "headers"/,
      home: undefined,
      "from-env": /env\.KEY has \$\{env:KEY\}, which is not filled in/,
      split: /args\[0\] has \$\{pathSeparator\}/,
    },
  ],
  [
    "Claude Desktop's configuration",
    `{
      "globalShortcut": "Alt+Space",
      "preferences": { "menuBarEnabled": false },
      "mcpServers": {
        "filesystem": {
          "command": "npx",
          "args": ["-y", "@example/filesystem", "/Users/ann/Desktop", "C:\\\\Users\\\\ann"]
        },
        "search": { "command": "cmd", "args": ["/c", "npx", "-y", "s"], "env": { "KEY": "k" } },
        "local": { "command": "/opt/bin/uv", "args": ["--directory", "/abs/weather", "run", "w.py"] }
      }
    }`,
    { filesystem: undefined, search: undefined, local: undefined },
  ],
  [
    "Claude Code's .mcp.json",
    `{
      "mcpServers": {
        "shared": { "type": "stdio", "command": "/path/to/server", "args": [], "env": {} },
        "api": {
          "type": "http",
          "url": "\${API_BASE_URL:-https://api.example.com}/mcp",
          "headers": { "Authorization": "Bearer \${API_KEY}" }
        },
        "events": { "type": "ws", "url": "wss://example.com" },
        "helper": { "type": "http", "url": "https://x.example", "headersHelper": "/opt/h.sh" },
        "cached": { "command": "\${CLAUDE_PLUGIN_ROOT}/s", "env": { "DIR": "\${CACHE:-/tmp}" } },
        "slow": { "command": "npx", "args": ["slow"], "timeout": 600000, "alwaysLoad": true }
      }
    }`,
    {
      shared: undefined,
      api: /url has \$\{API_BASE_URL:-https:.*, which is not filled in/,
      events: /type must be .*, not "ws": .*WebSockets are not supported/,
      helper: /headersHelper is not supported/,
      cached: /command has \$\{CLAUDE_PLUGIN_ROOT\}, which is not filled in/,
      slow: undefined,
    },
  ],
  [
    "other programs that extend the format",
    `{
      "mcpServers": {
        "approved": {
          "command": "npx",
          "args": ["x"],
          "disabled": false,
          "alwaysAllow": ["read"],
          "autoApprove": [],
          "timeout": 60,
        },
        "off": { "command": "npx", "disabled": true },
        "some-tools": { "command": "npx", "args": ["x"], "excludeTools": ["delete"] },
      },
    }`,
    { approved: undefined, "some-tools": /excludeTools is not supported/ },
  ],
];

describe("a whole file of another program", () => {
  test.each(files)("%s", (_, text, expected) => {
    const { entries, errors } = parse(text);
    const names = Object.keys(expected);
    expect([...entries.keys()]).toEqual(names.filter(it => !expected[it]));
    expect([...errors.keys()]).toEqual(names.filter(it => expected[it]));
    for (const [name, error] of errors) {
      expect(error.message).toContain(`server ${name}: `);
      expect(error.message).toMatch(expected[name]!);
    }
  });
});

describe("a faulty entry costs only itself, and its error says where and why", () => {
  const cases: [entry: unknown, what: RegExp, remedy: RegExp][] = [
    [{ type: "http" }, /url is missing/, /add the address/],
    [{ type: "http", url: "x" }, /url is not an address/, /https:\/\/example\.com/],
    [{ url: "http://example.com/mcp" }, /everybody on the way/, /https, or "allowHttp": true/],
    [{ url: "https://ann:pw@x.example" }, /url has a user name or a password/, /Authorization/],
    [{ url: "https://x.example?key=${env:KEY}" }, /url has \$\{env:KEY\}/, /headers/],
    [{ ...remote, headers: { A: "${KEY}" } }, /headers\.A has \$\{KEY\}/, /\$\{env:NAME\}/],
    [{ ...remote, headers: { A: "${input:k}" } }, /headers\.A has/, /\$\{env:NAME\}/],
    [{ ...remote, headers: { "a b": "c" } }, /"a b" is no name of a header/, /correct it/],
    [{ ...remote, headers: { Host: "c" } }, /header Host is set by the connection/, /remove it/],
    [{ ...remote, headers: { A: 1 } }, /headers\.A must be a text, not 1/, /write "1" in quotes/],
    [{ ...remote, reset: { restart: true } }, /reset is not possible/, /prove-rl record/],
    [{ ...remote, args: ["x"] }, /args is for a program/, /remove it, or url/],
    [{ ...remote, urll: "x" }, /the key urll is not known/, /url, headers, allowHttp, type, reads/],
    [{ ...good, ...remote }, /url is for a server at an address/, /remove it, or the command/],
    [{ ...good, type: "sse" }, /type must be stdio, or http.*"sse"/, /SSE alone/],
    [{ ...good, headers: { A: "b" } }, /headers is for a server at an address/, /remove it/],
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
    ...["seed", {}, { folder: 7 }, { restart: false }, { folder: "a", restart: true }].map(
      (reset): [unknown, RegExp, RegExp] => [
        { ...good, reset },
        /reset must have one of folder, command, tool and restart/,
        /"reset": \{"folder"/,
      ],
    ),
    [
      { ...good, reset: { folder: "seed" } },
      /reset has folder, but the server is not given \$\{sandbox\}/,
      /files or folder/,
    ],
    [
      { ...good, args: ["${sandbox}"], reset: { command: ["createdb", "${sandbox}"] } },
      /nothing that removes what it creates/,
      /dropdb/,
    ],
    [
      {
        ...good,
        args: ["${sandbox}"],
        reset: { command: ["createdb", "shop"], remove: ["dropdb", "${sandbox}"] },
      },
      /must both have \$\{sandbox\}/,
      /take the name/,
    ],
    [
      { ...good, args: ["${sandbox}"] },
      /args\[0\] has \$\{sandbox\}, which is not filled in/,
      /with reset/,
    ],
    [
      { ...good, args: ["${sandbox}"], reset: { folder: "${env:HOME}" } },
      /reset has \$\{env:HOME\}, which is not filled in/,
      /value itself/,
    ],
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
