/** Template files are validated, templates are filled in, and clauses become turns. */
import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadServers } from "../../../src/servers/catalog.ts";
import { server as banking } from "../../../src/servers/banking/server.ts";
import { createRandom } from "../../../src/environment/random.ts";
import { applyContractions, isRequest } from "../../../src/synthesis/text/grammar.ts";
import { readStyleGuide, type Persona } from "../../../src/synthesis/text/personas.ts";
import { composeTurn, type TurnPosition } from "../../../src/synthesis/text/composeTurn.ts";
import {
  markVerbatim,
  chooseAlternatives,
  fillSlots,
  joinWithAnd,
  tidyText,
} from "../../../src/synthesis/text/templateText.ts";
import { selectReplies } from "../../../src/synthesis/text/replies.ts";
import { readTemplates } from "../../../src/synthesis/text/readTemplates.ts";
import { findTemplateErrors, parseTemplates } from "../../../src/synthesis/text/templates.ts";
import { root } from "../../contracts/transports.ts";
import { library } from "../libraryServer.ts";

const servers = await loadServers();

const folder = join(root, "resources/servers");

test.each(servers.map(it => [it.name, it] as const))(
  "%s has valid templates for every tool",
  (name, server) => {
    const own = parseTemplates(
      server,
      readFileSync(join(folder, name, "templates.json"), "utf8"),
      `${name}/templates.json`,
    );
    expect(Object.keys(own.tools).toSorted()).toEqual([...server.tools.keys()].toSorted());
  },
);

test("a server without a templates file gets proposals from its declarations", () => {
  const { tools, entities } = readTemplates(folder, library);
  expect(findTemplateErrors(readTemplates(folder, library), library)).toEqual([]);
  expect(tools["library_lend"]!.forms).toEqual([
    'lend {book_id} for {member_id} with the pin "{pin}"',
  ]);
  expect(tools["library_lend"]!.missing!["book_id"]).toEqual({
    forms: ['lend a book for {member_id} with the pin "{pin}"'],
    ask: ["Which book?"],
    answer: ["{book_id}"],
  });
  expect(tools["library_get_book"]!.forms).toEqual(["(show me|get me) {book_id} and who has it"]);
  expect(entities["book"]!.mention).toEqual(['the book "{label}"']);
  expect(entities["loan"]!.mention).toEqual(['the loan "{label}"', "the loan of {book}"]);
  expect(entities["shelf"]!.mention).toEqual(["{id}"]);
});

describe("an invalid templates file", () => {
  const plain = {
    format: "prove/templates@1",
    server: "banking",
    entities: {},
    arguments: {},
    tools: {},
  };
  const deposit = { forms: ["deposit {amount} to {account_id}"] };
  const cases: [what: string, file: unknown, text: RegExp][] = [
    ["of another server", { ...plain, server: "calendar" }, /server is calendar, not banking/],
    [
      "with an unknown tool",
      { ...plain, tools: { banking_fly: deposit } },
      /banking has no tool banking_fly/,
    ],
    [
      "with an unknown slot",
      {
        ...plain,
        tools: { banking_deposit: { forms: ["deposit {amount} to {account_id} {soon}"] } },
      },
      /slot \{soon\} that is no argument/,
    ],
    [
      "with a form without a required argument",
      { ...plain, tools: { banking_deposit: { forms: ["deposit {amount}"] } } },
      /"deposit \{amount\}" does not say account_id/,
    ],
    [
      "with a question that does not end in a question mark",
      {
        ...plain,
        tools: { banking_deposit: { forms: ["(put|who put) {amount} into {account_id}"] } },
      },
      /:\d+: banking_deposit: .* begins like a question/,
    ],
    [
      "with a request behind a question",
      {
        ...plain,
        tools: { banking_deposit: { forms: ["is {amount} on {account_id}? Put it there"] } },
      },
      /:\d+: banking_deposit: .* continues after a question/,
    ],
    [
      "with an answer without the missing value",
      {
        ...plain,
        tools: {
          banking_deposit: {
            ...deposit,
            missing: {
              amount: { forms: ["deposit to {account_id}"], ask: ["How much?"], answer: ["a lot"] },
            },
          },
        },
      },
      /does not answer with \{amount\}/,
    ],
    [
      "with a form that says the missing value",
      {
        ...plain,
        tools: {
          banking_deposit: {
            ...deposit,
            missing: { amount: { forms: deposit.forms, ask: ["How much?"], answer: ["{amount}"] } },
          },
        },
      },
      /says amount, which it should leave out/,
    ],
    [
      "with a question that says the missing value",
      {
        ...plain,
        tools: {
          banking_deposit: {
            ...deposit,
            missing: {
              amount: {
                forms: ["deposit to {account_id}"],
                ask: ["Is it {amount}?"],
                answer: ["{amount}"],
              },
            },
          },
        },
      },
      /says what it asks for/,
    ],
    [
      "with a short form with other slots",
      {
        ...plain,
        entities: {
          account: { noun: "account", mention: ["{label}"], short: ["the {label} one"] },
        },
      },
      /short form with other slots/,
    ],
    [
      "that does not fit the schema",
      { ...plain, tools: { banking_deposit: {} } },
      /b\.json:\d+ is not a templates file: at \/tools\/banking_deposit\/forms/,
    ],
  ];
  test.each(cases)("%s is rejected with the place", (_, file, text) => {
    expect(() => parseTemplates(banking, JSON.stringify(file, null, 1), "b.json")).toThrow(text);
  });

  test("that is not JSON is rejected", () => {
    expect(() => parseTemplates(banking, "{", "b.json")).toThrow(/b\.json:1 is not JSON/);
  });
});

test("alternatives are chosen, nested ones first", () => {
  const all = new Set(
    Array.from({ length: 60 }, (_, i) =>
      chooseAlternatives("(move|(quickly |)send) it", createRandom(i)),
    ),
  );
  expect([...all].toSorted()).toEqual(["move it", "quickly send it", "send it"]);
});

const fillings: [form: string, slots: Record<string, string>, text: string | undefined][] = [
  ["freeze {card}", { card: "the Travel card" }, "freeze the Travel card"],
  ["my {label} account", { label: "Old account" }, "my Old account"],
  ["move it on {day}", { day: "tomorrow" }, "move it tomorrow"],
  ["it says {text}.", { text: "Bye." }, "it says Bye."],
  ["freeze {card}", {}, undefined],
];
test.each(fillings)("%s with %o: %s", (form, slots, text) => {
  expect(fillSlots(form, slot => slots[slot])).toBe(text);
});

const replies = [
  "It is there.",
  { say: "It is gone.", if: { status: "gone" } },
  { say: "It is in the red.", if: { balance: "<0" } },
  { say: "Either.", if: { status: ["new", "open"] } },
  { say: "Nobody knows.", if: { owner: null } },
];
const selections: [value: Record<string, string | number>, expected: string[]][] = [
  [{ status: "gone", owner: "Ana" }, ["It is gone.", "It is there."]],
  [{ balance: -3, owner: "Ana" }, ["It is in the red.", "It is there."]],
  [{ balance: 3, owner: "Ana" }, ["It is there."]],
  [{ status: "open", owner: "Ana" }, ["Either.", "It is there."]],
  [{}, ["Nobody knows.", "It is there."]],
];
test.each(selections)(
  "for the result %o, replies with matching conditions come first",
  (value, expected) => {
    expect(
      selectReplies(
        replies,
        path => value[path],
        it => it,
      ),
    ).toEqual(expected);
  },
);

const tidyCases: [text: string, expected: string][] = [
  ["call off it", "call it off"],
  ["put Budget check-in in my calendar", "put Budget check-in in my calendar"],
  ["the empty folder the folder ~/spare", "the empty folder ~/spare"],
  ["and .profile?", "and .profile?"],
  ["see to it that that issue is closed", "see to it that that issue is closed"],
  ["comment on this one", "comment on this one"],
  ["on this Friday", "this Friday"],
  ["on the day after tomorrow", "the day after tomorrow"],
  ["Orchard Foods's payment and Paul's", "Orchard Foods' payment and Paul's"],
  ['They say "no."\u0002.', 'They say "no."\u0002'],
];
test.each(tidyCases)("%s is tidied to: %s", (text, expected) => {
  expect(tidyText(text)).toBe(expected);
});

test("contractions are applied", () => {
  expect(
    [
      "what is the balance of {account}?",
      "tell me where I am",
      "I would like to pay",
      "I do not need it",
      "check how warm it is in here",
    ].map(applyContractions),
  ).toEqual([
    "what's the balance of {account}?",
    "tell me where I am",
    "I'd like to pay",
    "I don't need it",
    "check how warm it is in here",
  ]);
});

test("a clause is a request if it begins with a verb", () => {
  expect(
    [
      "freeze it",
      "nobody should see it",
      "€75 should go there",
      "I lost it, freeze it",
      "how much is left?",
      "the card was stolen",
      "shipment 20406 has come in, please book it",
      "Ana's message needs an answer, say yes",
      "let's add 40 euros to it",
    ].map(isRequest),
  ).toEqual([true, false, false, false, false, false, false, false, false]);
});

test("words are joined into a list", () => {
  expect([["a"], ["a", "b"], ["a", "b", "c"]].map(joinWithAnd)).toEqual([
    "a",
    "a and b",
    "a, b and c",
  ]);
});

describe("a turn", () => {
  const shipped = readStyleGuide(join(root, "resources"));
  const createPersona = (it: Partial<Persona>): Persona => ({
    name: "x",
    weight: 1,
    ask: ["{clause}"],
    dates: "plain",
    numbers: 0,
    indirect: 0,
    afterthoughts: 0,
    ...it,
  });
  const style = {
    ...shipped,
    joiners: {
      ...shipped.joiners,
      and: [" and "],
      sentence: [". Then "],
      afterthought: [". Then "],
    },
    followUp: ["Now "],
  };
  const compose = (
    clauses: string[],
    it: Partial<Persona> = {},
    position: TurnPosition = "first",
    filler = "",
  ) => {
    const voice = { persona: createPersona(it), style, random: createRandom(3) };
    return composeTurn(clauses, position, voice, filler);
  };
  const cases: [actual: string, expected: string][] = [
    [compose(["freeze it"]), "Freeze it."],
    [compose(["how much is in it?", "freeze it"]), "How much is in it? Freeze it."],
    [compose(["freeze it", "thaw it"]), "Freeze it and thaw it."],
    [
      compose(["freeze it", "I have 20 in cash, deposit it"]),
      "Freeze it. I have 20 in cash, deposit it.",
    ],
    [compose(["freeze it"], { ask: ["could you {clause}?"] }), "Could you freeze it?"],
    [compose(["I lost it, freeze it"], { ask: ["could you {clause}?"] }), "I lost it, freeze it."],
    [compose(["freeze it"], { open: ["Hi! "], close: [" Thanks!"] }), "Hi! Freeze it. Thanks!"],
    [compose(["freeze it"], { casual: true }), "freeze it"],
    [compose(["freeze it"], { open: ["Quick: "] }), "Quick: freeze it."],
    [
      compose(["freeze it"], { open: ["Quick: "] }, "first", "My bag is gone."),
      "My bag is gone. Freeze it.",
    ],
    [compose([`${markVerbatim("notes.txt")}, please`], {}, "answer"), "notes.txt, please."],
    [compose(["freeze it"], {}, "follow-up"), "Now freeze it."],
    [
      compose(["what is the balance of Savings?"], { indirect: 1 }).replace(
        /^(Do you know|Could you tell me|Can you tell me|Would you mind telling me|Can you look up)/,
        "Tell me",
      ),
      "Tell me what the balance of Savings is?",
    ],
    [
      compose(["freeze it", "thaw it"], { numbers: 1 }).replace(
        /^(?:Two (?:quick )?things(?:, please)?|There are two things): /,
        "",
      ),
      "1) freeze it, 2) thaw it.",
    ],
    [compose(["show me the list"], { ask: ["could you {clause} for me?"] }), "Show me the list."],
    [
      compose(["how much is left?"], {}, "clarification")
        .replace(/^And how/, "How")
        .replace(/^OK, how/, "How"),
      "How much is left?",
    ],
  ];
  test.each(cases)("%s", (actual, expected) => {
    expect(actual).toBe(expected);
  });
});

test.each([
  [{ deals: [{ title: "Menu cards" }] }, false],
  [{ tasks: [{ task: "Send the offer" }] }, false],
  [{}, true],
])("with %o on file, whether nothing is open with a contact: %s", (value, isNothingOpen) => {
  const crm = servers.find(it => it.name === "crm")!;
  const forms = readTemplates(folder, crm).tools["crm_get_contact"]!.forms;
  const ring = forms.find(it => typeof it !== "string" && it.say.includes("what should I know"))!;
  const texts = selectReplies(
    typeof ring === "string" ? [] : ring.reply!,
    path => (value as Record<string, never>)[path],
    it => it,
  );
  expect(texts.some(it => it.includes("nothing is open"))).toBe(isNothingOpen);
});
