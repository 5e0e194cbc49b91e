/** Scenario files are validated against the tools, and errors name the file and the line. */
import { describe, expect, test } from "vitest";
import { join } from "node:path";
import { parseScenarios, readScenarios } from "../../../src/synthesis/text/scenarios.ts";
import { readTemplates } from "../../../src/synthesis/text/readTemplates.ts";
import { getOwnReplies, getTemplateText } from "../../../src/synthesis/text/templates.ts";
import { catalog } from "../../contracts/transports.ts";
import { resources } from "../synthesizeTasks.ts";

/** The text of a file with one scenario, whose second turn has these lines of JSON. */
const formatFile = (...step: readonly string[]): string =>
  [
    `{ "format": "prove/scenarios@1", "scenarios": [`,
    `{ "name": "lost-card", "motive": ["My card is gone."], "turns": [`,
    `[{ "as": "card", "tool": "banking_freeze_card", "say": ["freeze {card_id}"] }],`,
    `[{`,
    ...step,
    `}] ] } ] }`,
  ].join("\n");

const parse = (text: string) => parseScenarios(text, "mine.json", catalog);

test("every shipped scenario is valid, and names are unique", () => {
  const scenarios = readScenarios({
    resources,
    catalog,
    servers: [...catalog.servers.keys()],
  });
  expect(new Set(scenarios.map(it => it.name)).size).toBe(scenarios.length);
});

test("the assistant answers each question of a scenario, and does not just describe the result", () => {
  const servers = [...catalog.servers.values()];
  const templates = new Map(
    servers.map(it => [it.name, readTemplates(join(resources, "servers"), it)]),
  );
  const scenarios = readScenarios({ resources, catalog, servers: servers.map(it => it.name) });
  const unanswered = scenarios.flatMap(({ name, turns }) =>
    turns.flat().flatMap(({ tool, say = [] }) => {
      const { server } = catalog.tools.get(tool)!;
      const general = templates.get(server)!.tools[tool]!.reply ?? [];
      // a list answers what there is
      if (/\{items\}/.test(JSON.stringify(general))) return [];
      return say
        .filter(it => getTemplateText(it).endsWith("?") && getOwnReplies(it) === undefined)
        .map(it => `${name}: ${getTemplateText(it)}`);
    }),
  );
  expect(unanswered).toEqual([]);
});

test("a scenario lists the servers that it needs", () => {
  const text = formatFile(
    `"tool": "email_send_message", "say": ["write to {to} about {subject}: {text}"]`,
  );
  expect(parse(text)[0]!.servers).toEqual(["banking", "email"]);
});

describe("errors name the line, and what is wrong there", () => {
  test.each([
    [[`"tool": "banking_freeze_cards"`], "mine.json:5", "there is no tool banking_freeze_cards"],
    [
      [`"tool": "banking_unfreeze_card",`, `"from": { "card": "card.card_id" }`],
      "mine.json:6",
      "banking_unfreeze_card takes no card",
    ],
    [
      [`"tool": "banking_get_balance",`, `"say": ["what is on {account}?"]`],
      "mine.json:6",
      "has a slot {account} that is no argument",
    ],
    [
      [
        `"tool": "banking_transfer",`,
        `"say": ["move {amount} from {from_account} to {to_account}"],`,
        `"compute": { "argument": "amount", "is": "share", "of": "card.card_id", "parts": [2] }`,
      ],
      "mine.json:6",
      "says {amount}, which is to be found out",
    ],
    [
      [
        `"tool": "banking_transfer",`,
        `"say": ["move it from {from_account} to {to_account}"],`,
        `"compute": { "argument": "amount", "is": "difference", "of": "card.card_id" }`,
      ],
      "mine.json:7",
      "difference needs it",
    ],
    [
      [
        `"tool": "banking_unfreeze_card",`,
        `"say": ["unfreeze them all, {last_digits}"],`,
        `"rows": { "argument": "card_id", "of": "card",`,
        `"where": { "field": "price", "equals": 0 } }`,
      ],
      "mine.json:7",
      "banking_freeze_card shows no price",
    ],
    [
      [
        `"tool": "banking_transfer",`,
        `"say": ["move a tenth of each from {from_account}"],`,
        `"rows": { "argument": "to_account", "of": "card", "where": { "field": "status", "equals": 0 } },`,
        `"compute": { "argument": "amount", "is": "share", "of": "row.price", "parts": [2] }`,
      ],
      "mine.json:8",
      "banking_freeze_card shows no price",
    ],
    [[`"as": "row",`, `"tool": "banking_get_balance"`], "mine.json:5", "row means the row"],
    [
      [`"tool": "banking_get_balance",`, `"say": ["what is left?"]`],
      "mine.json:6",
      "does not say account_id",
    ],
    [
      [`"tool": "banking_get_balance",`, `"say": ["what was on {account_id} then"]`],
      "mine.json:6",
      "begins like a question; end it in",
    ],
    [
      [`"tool": "banking_get_balance",`, `"say": ["what is on {account_id}? Look it up"]`],
      "mine.json:6",
      "continues after a question; make it two clauses",
    ],
    [
      [`"tool": "banking_get_balance",`, `"from": { "account_id": "transfer" }`],
      "mine.json:4",
      "no step before it is named transfer",
    ],
    [
      [
        `"tool": "banking_transfer", "say": ["if it is over {limit}, move {amount} from {from_account} to {to_account}"],`,
        `"if": { "of": "card", "field": "status", "is": "over", "else": ["No."] }`,
      ],
      "mine.json:6",
      "banking_freeze_card is no look-up",
    ],
    [[`"tool": "banking_get_balance",`, `"chance": 2`], "mine.json:6", "chance"],
    [[`"tool": "banking_get_balance",`, `"says": []`], "mine.json:6", "says"],
  ])("%s", (step, place, message) => {
    expect(() => parse(formatFile(...step))).toThrow(
      new RegExp(`${place}.*${message.replace(/[{}]/g, "\\$&")}`),
    );
  });
});
