/** `servers`, `tools`, `call` and `schemas`, and the messages for invalid input and fixtures. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSchemaFiles } from "../../src/cli/schemas.ts";
import { version } from "../../src/version.ts";
import { catalog, root } from "../contracts/transports.ts";
import { emptyFolder, run } from "./program.ts";

test("servers --json lists name, category, tools and summary", async () => {
  const { code, stdout } = await run(["servers", "--json"]);
  expect(code).toBe(0);
  const rows = JSON.parse(stdout) as { name: string; tools: number }[];
  const paperCounts =
    "banking 17, trading 13, payments 10, calendar 17, email 17, filesystem 40, shopping 23, marketplace 13, retail_chain 11, travel_booking 20, maps 16, social_media 15, team_chat 11, iot_devices 25, vehicle 20, crm 16, issue_tracker 20, budget 12, food_delivery 17, video_meeting 10";
  const paperRows = rows.slice(0, paperCounts.split(", ").length);
  expect(paperRows.map(it => `${it.name} ${it.tools}`).join(", ")).toBe(paperCounts);
  expect(paperRows.reduce((sum, it) => sum + it.tools, 0)).toBe(343);
  expect(Object.keys(rows[0]!)).toEqual(["name", "category", "tools", "summary"]);
});

test("tools --json gives function schemas with effect and returns", async () => {
  const { stdout } = await run(["tools", "banking", "--json"]);
  const [first] = JSON.parse(stdout) as Record<string, unknown>[];
  expect(first).toMatchObject({
    type: "function",
    function: { name: "banking_list_accounts", parameters: { type: "object" } },
    effect: "read",
    returns: { type: "object" },
  });
});

describe("call", () => {
  test("prints the outcome and the changes", async () => {
    const { code, stdout } = await run([
      "call",
      "banking_deposit",
      '{"account_id":"acc_115","amount":45.5}',
      "--fixture",
      "small",
      "--json",
    ]);
    expect(code).toBe(0);
    const called = JSON.parse(stdout) as {
      outcome: object;
      patches: { op: string; path: string; value: unknown }[];
    };
    expect(called.outcome).toMatchObject({ kind: "ok", value: { balance: 645.5 } });
    expect(called.patches).toContainEqual({
      op: "replace",
      path: "/banking/world/accounts/acc_115/balance",
      value: 645.5,
    });
  });

  const cases: [what: string, args: string[], code: number, text: RegExp][] = [
    [
      "an unknown tool",
      ["banking_fly", "{}"],
      2,
      /there is no tool banking_fly\n {2}prove-rl tools lists them/,
    ],
    [
      "a missing argument",
      ["banking_get_balance", "{}"],
      1,
      /bad-arguments.*missing required argument account_id/,
    ],
    [
      "a wrong type",
      ["banking_get_balance", '{"account_id":7}'],
      1,
      /bad-arguments.*account_id must be a string, not 7/,
    ],
    [
      "an unknown key",
      ["banking_get_balance", '{"account_id":"acc_101","x":1}'],
      1,
      /refused.*Unrecognized key/,
    ],
    [
      "a refusal",
      ["banking_get_balance", '{"account_id":"acc_1"}'],
      1,
      /refused \(not_found\): there is no account acc_1\n {2}hint: banking_list_accounts/,
    ],
    [
      "text that is not JSON",
      ["banking_get_balance", "{account}"],
      2,
      /the arguments are not JSON .*\n {2}write them as/,
    ],
    [
      "an unknown fixture",
      ["banking_get_balance", "{}", "--fixture", "huge"],
      2,
      /banking has no fixture huge\n {2}choose one of full, small/,
    ],
    [
      "a seed that is not a number",
      ["banking_get_balance", "{}", "--seed", "abc"],
      2,
      /--seed abc is not a whole number/,
    ],
    ["an unknown option", ["banking_get_balance", "{}", "--fast"], 2, /--fast/],
  ];
  for (const [what, args, expected, text] of cases)
    test(`${what} exits with ${expected} and says what to do`, async () => {
      const { code, stdout, stderr } = await run(["call", ...args]);
      expect(stdout + stderr).toMatch(text);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(code).toBe(expected);
    });
});

test("an unknown command is refused with a list of the commands", async () => {
  const { code, stderr } = await run(["fly"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/there is no command fly\n {2}choose one of servers, tools, call/);
});

test("a fixture of the workspace comes before the shipped one with the same name", async () => {
  const cwd = emptyFolder();
  const text = readFileSync(
    join(root, "resources/servers/banking/fixtures/small.fixture.json"),
    "utf8",
  );
  mkdirSync(join(cwd, "prove/fixtures/banking"), { recursive: true });
  const file = join(cwd, "prove/fixtures/banking/small.fixture.json");
  const balance = async () =>
    (
      await run(["call", "banking_get_balance", '{"account_id":"acc_108"}', "--fixture", "small"], {
        cwd,
      })
    ).stdout;

  expect(await balance()).toMatch(/"name": "Savings"/);
  writeFileSync(file, text.replace('"name": "Savings"', '"name": "Rainy days"'));
  expect(await balance()).toMatch(/"name": "Rainy days"/);
});

describe("an invalid fixture", () => {
  const cases: [what: string, invalidate: (text: string) => string, message: RegExp][] = [
    [
      "its schema",
      text => text.replace('"kind": "savings"', '"kind": "gold"'),
      /:\d+ is not a fixture of banking: at \/state\/accounts\/acc_108\/kind: .*\n {2}correct that value/,
    ],
    ["JSON", text => text.slice(0, 200), /is not JSON/],
    [
      "its server",
      text => text.replace('"server": "banking"', '"server": "calendar"'),
      /at \/server/,
    ],
    [
      "a day that exists",
      text => text.replace("2026-03-15", "2026-02-30"),
      /at \/state\/scheduled\/sch_601\/date/,
    ],
  ];
  for (const [what, invalidate, message] of cases)
    test(`${what}: the message names the file and the place`, async () => {
      const cwd = emptyFolder();
      mkdirSync(join(cwd, "prove/fixtures/banking"), { recursive: true });
      const shipped = readFileSync(
        join(root, "resources/servers/banking/fixtures/small.fixture.json"),
        "utf8",
      );
      const invalidText = invalidate(shipped);
      expect(invalidText).not.toBe(shipped);
      writeFileSync(join(cwd, "prove/fixtures/banking/small.fixture.json"), invalidText);
      const { code, stderr } = await run(
        ["call", "banking_list_accounts", "{}", "--fixture", "small"],
        { cwd },
      );
      expect(stderr).toContain(join("prove", "fixtures", "banking", "small.fixture.json"));
      expect(stderr).toMatch(message);
      expect(code).toBe(2);
    });
});

test("the shipped JSON Schemas match the definitions (prove-rl schemas writes them)", () => {
  const names = readdirSync(join(root, "resources"), { recursive: true, encoding: "utf8" })
    .map(it => it.replaceAll("\\", "/"))
    .filter(it => it.endsWith(".schema.json"));
  const shipped = Object.fromEntries(
    names.map(it => [it, readFileSync(join(root, "resources", it), "utf8")]),
  );
  expect(shipped).toEqual(createSchemaFiles(catalog));
});

test("every shipped fixture opens", () => {
  const names = [...catalog.servers.keys()].flatMap(server =>
    catalog.listFixtures(server).map(name => [server, name] as const),
  );
  expect(names.length).toBeGreaterThanOrEqual(2 * catalog.servers.size);
  for (const [server, name] of names) expect(catalog.getFixture(server, name).name).toBe(name);
});

test("the programs name the manifest's version", async () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    version: string;
  };
  expect(version).toBe(manifest.version);
  expect((await run(["--version"])).stdout).toBe(`${manifest.version}\n`);
});
