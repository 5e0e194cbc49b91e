/** Who is talking, and how clauses become a user's turn: openers, joiners, politeness, read from resources/personas.json. Knows no tools. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Chance } from "../environment/chance.ts";
import { tidy } from "./phrase.ts";

const texts = z.array(z.string()).min(1);

const persona = z.strictObject({
  name: z.string(),
  weight: z.number().positive(),
  open: texts.optional(),
  /** Frames for the first clause: `could you {clause}?` */
  ask: texts,
  close: texts.optional(),
  dates: z.enum(["plain", "day-first", "month-first", "relative"]),
  /** Writes without capitals and full stops. */
  casual: z.literal(true).optional(),
});

const personasSchema = z.strictObject({
  format: z.literal("prove/personas@1"),
  joiners: z.strictObject({ and: texts, sentence: texts }),
  followUp: texts,
  clarification: texts,
  accept: texts,
  giveUp: texts,
  nothing: texts,
  done: texts,
  cannot: texts,
  personas: z.array(persona).min(1),
});

export type Manners = z.infer<typeof personasSchema>;
export type Persona = z.infer<typeof persona>;

export const readManners = (resources: string): Manners => personasSchema.parse(JSON.parse(readFileSync(join(resources, "personas.json"), "utf8")));

export const personaOf = ({ personas }: Manners, chance: Chance): Persona => chance.weighted(personas, it => it.weight);

/** Where in a talk a turn stands. */
export type Opening = "first" | "follow-up" | "clarification" | "answer";

/** One user turn out of clauses. A clause that ends in `?` is a sentence of its own; the others run on, the first of them framed. */
export function turnOf(clauses: readonly string[], opening: Opening, persona: Persona, manners: Manners, chance: Chance): string {
  const isBare = opening === "answer" || opening === "clarification";
  const lead = { first: persona.open ?? [""], "follow-up": manners.followUp, clarification: manners.clarification, answer: [""] }[opening];
  const sentences = sentencesOf(clauses, manners, chance);
  // "Now " and "And " run on into a request, not into "I have …" or a question
  const runsInto = (text: string) => /[a-z,:] $/.test(text);
  const start = chance.pick(lead.filter(it => isBare || opening === "first" || isRequest(sentences[0]!) || !runsInto(it)));
  const runsOn = runsInto(start);
  const frames = persona.ask.filter(it => /\{clause\}\??$/.test(it) || !sentences[0]!.includes(","));
  const frame = isBare || runsOn || !isRequest(sentences[0]!) ? "{clause}" : chance.pick(frames);
  const framed = frame.replace("{clause}", () => sentences[0]!);
  const first = runsOn || (persona.casual && start === "") ? framed : capitalized(framed);
  const spoken = [first, ...sentences.slice(1).map(capitalized)].map(closed).join(" ");
  const close = opening === "first" ? chance.pick(persona.close ?? [""]) : "";
  const text = tidy(unmarked(start + spoken)) + close;
  return persona.casual ? text.replace(/\.$/, "") : text;
}

function sentencesOf(clauses: readonly string[], manners: Manners, chance: Chance): string[] {
  const sentences: string[] = [];
  for (const [i, clause] of clauses.entries()) {
    const runsOn = i > 0 && isRequest(clause) && !sentences.at(-1)!.endsWith("?");
    const joiner = runsOn ? chance.pick(chance.happens(0.7) ? manners.joiners.and : manners.joiners.sentence) : ". ";
    if (runsOn && !joiner.startsWith(".")) sentences.push(`${sentences.pop()!}${joiner}${clause}`);
    else sentences.push(`${i > 0 ? joiner.slice(2) : ""}${clause}`);
  }
  return sentences;
}

/** A clause that begins with a verb, so that it can be asked for politely. */
const isRequest = (clause: string) => !clause.endsWith("?") && !/^(\u0001|I\b|my\b|the\b|on\b|at\b|in\b|if\b|there\b|it\b|and\b|another\b|then\b)/.test(clause);

const closed = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`);

/** Stands before a value's own words in a clause, so that they keep their case at the start of a sentence. */
const mark = "\u0001";
export const verbatim = (value: string): string => mark + value;
export const unmarked = (text: string): string => text.replaceAll(mark, "");

/** The first letter in upper case, unless it belongs to a value. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
