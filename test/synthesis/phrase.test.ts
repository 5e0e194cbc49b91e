/** Phrase files: the shipped ones are sound, a flawed one says where, and forms become sentences. */
import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { servers } from "../../src/servers/catalog.ts";
import { banking } from "../../src/servers/banking.ts";
import { chanceOf } from "../../src/environment/chance.ts";
import { readManners, turnOf, verbatim, type Opening, type Persona } from "../../src/synthesis/persona.ts";
import { chosen, filled, flawsOf, listed, parsePhrases, readPhrases } from "../../src/synthesis/phrase.ts";
import { root } from "../contracts/doors.ts";
import { library } from "./library.ts";

const folder = join(root, "resources/phrases");

test.each(servers.map(it => [it.name, it] as const))("%s has sound phrases of its own for every tool", (name, server) => {
  const own = parsePhrases(server, readFileSync(join(folder, `${name}.json`), "utf8"), `${name}.json`);
  expect(Object.keys(own.tools).toSorted()).toEqual([...server.tools.keys()].toSorted());
});

test("a server without a file is spoken of plainly, by what it declares", () => {
  const { tools, entities } = readPhrases(folder, library);
  expect(flawsOf(readPhrases(folder, library), library)).toEqual([]);
  expect(tools["library_lend"]!.forms).toEqual(["lend with book {book_id} and member {member_id} and pin {pin}"]);
  expect(entities["book"]!.mention).toEqual(["the book {label}"]);
  expect(entities["shelf"]!.mention).toEqual(["{id}"]);
});

describe("a flawed file", () => {
  const plain = { format: "prove/phrases@1", server: "banking", entities: {}, arguments: {}, tools: {} };
  const deposit = { forms: ["deposit {amount} to {account_id}"] };
  const cases: [what: string, file: unknown, text: RegExp][] = [
    ["of another server", { ...plain, server: "calendar" }, /server is calendar, not banking/],
    ["with an unknown tool", { ...plain, tools: { banking_fly: deposit } }, /banking has no tool banking_fly/],
    ["with an unknown slot", { ...plain, tools: { banking_deposit: { forms: ["deposit {amount} to {account_id} {soon}"] } } }, /slot \{soon\} that is no argument/],
    ["that leaves an argument out", { ...plain, tools: { banking_deposit: { forms: ["deposit {amount}"] } } }, /"deposit \{amount\}" does not say account_id/],
    ["whose answer does not answer", { ...plain, tools: { banking_deposit: { ...deposit, missing: { amount: { forms: ["deposit to {account_id}"], ask: ["How much?"], answer: ["a lot"] } } } } }, /does not answer with \{amount\}/],
    ["that says what is missing", { ...plain, tools: { banking_deposit: { ...deposit, missing: { amount: { forms: deposit.forms, ask: ["How much?"], answer: ["{amount}"] } } } } }, /says amount, which it should leave out/],
    ["of another shape", { ...plain, tools: { banking_deposit: {} } }, /no phrase file at \/tools\/banking_deposit\/forms/],
  ];
  test.each(cases)("%s says where", (_, file, text) => {
    expect(() => parsePhrases(banking, JSON.stringify(file), "b.json")).toThrow(text);
  });

  test("that is no JSON says so", () => {
    expect(() => parsePhrases(banking, "{", "b.json")).toThrow(/b\.json is not JSON/);
  });
});

test("choices are made, inner ones first", () => {
  const all = new Set(Array.from({ length: 60 }, (_, i) => chosen("(move|(quickly |)send) it", chanceOf(i))));
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
  expect(filled(form, slot => slots[slot])).toBe(text);
});

test("lists are read out", () => {
  expect([["a"], ["a", "b"], ["a", "b", "c"]].map(listed)).toEqual(["a", "a and b", "a, b and c"]);
});

describe("a turn", () => {
  const manners = readManners(join(root, "resources"));
  const persona = (it: Partial<Persona>): Persona => ({ name: "x", weight: 1, ask: ["{clause}"], dates: "plain", numbers: 0, indirect: 0, afterthoughts: 0, ...it });
  const say = (clauses: string[], it: Partial<Persona> = {}, opening: Opening = "first") => turnOf(clauses, opening, persona(it), { ...manners, joiners: { ...manners.joiners, and: [" and "], sentence: [". Then "], afterthought: [". Then "] }, followUp: ["Now "] }, chanceOf(3));
  const cases: [text: string, said: string][] = [
    [say(["freeze it"]), "Freeze it."],
    [say(["how much is in it?", "freeze it"]), "How much is in it? Freeze it."],
    [say(["freeze it", "thaw it"]), "Freeze it and thaw it."],
    [say(["freeze it", "I have 20 in cash, deposit it"]), "Freeze it. I have 20 in cash, deposit it."],
    [say(["freeze it"], { ask: ["could you {clause}?"] }), "Could you freeze it?"],
    [say(["I lost it, freeze it"], { ask: ["could you {clause}?"] }), "I lost it, freeze it."],
    [say(["freeze it"], { open: ["Hi! "], close: [" Thanks!"] }), "Hi! Freeze it. Thanks!"],
    [say(["freeze it"], { casual: true }), "freeze it"],
    [say([`${verbatim("notes.txt")}, please`], {}, "answer"), "notes.txt, please."],
    [say(["freeze it"], {}, "follow-up"), "Now freeze it."],
    [say(["how much is left?"], {}, "clarification").replace(/^And how/, "How").replace(/^OK, how/, "How"), "How much is left?"],
  ];
  test.each(cases)("%s", (text, said) => {
    expect(text).toBe(said);
  });
});
