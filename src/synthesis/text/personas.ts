/** Reads resources/personas.json: the style guide and the personas of simulated users. */
import { join } from "node:path";
import { z } from "zod";
import type { Random } from "../../environment/random.ts";
import { readJsonFile } from "../../storage/parseJson.ts";

const textsSchema = z.array(z.string()).min(1);
const shareSchema = z.number().min(0).max(1);

const personaSchema = z.strictObject({
  name: z.string(),
  weight: z.number().positive(),
  open: textsSchema.optional(),
  /** Frames for the first clause: `could you {clause}?` */
  ask: textsSchema,
  close: textsSchema.optional(),
  /** Replaces the style guide's words before a follow-up. */
  followUp: textsSchema.optional(),
  dates: z.enum(["plain", "day-first", "month-first", "relative", "short", "long", "weekday"]),
  /** Says 4:15 pm. */
  clock: z.literal(12).optional(),
  /** Writes without capitals and full stops. */
  casual: z.literal(true).optional(),
  /** Says "what's" and "I'd". */
  contracts: z.literal(true).optional(),
  /** How often a question is asked indirectly. */
  indirect: shareSchema.optional(),
  /** How often a value is corrected within the sentence. */
  corrects: shareSchema.optional(),
  /** How often a filler is said. */
  talks: shareSchema.optional(),
  /** How often requests are numbered. */
  numbers: shareSchema.optional(),
  /** How often the last request is an afterthought. */
  afterthoughts: shareSchema.optional(),
  /** Fillers of this persona. */
  reasons: textsSchema.optional(),
});

const styleGuideSchema = z.strictObject({
  format: z.literal("prove/personas@1"),
  joiners: z.strictObject({
    and: textsSchema,
    sentence: textsSchema,
    afterthought: textsSchema,
    several: z.strictObject({ 2: textsSchema, 3: textsSchema }),
  }),
  followUp: textsSchema,
  clarification: textsSchema,
  /** Replaces both after an answer that there is nothing. */
  sober: textsSchema,
  /** Before the answer to a question. */
  answering: textsSchema,
  recovery: z.strictObject({
    /** What the user says to allow whatever a request needs first. */
    permissions: textsSchema,
    /** The sentence about the entity `{name}` that was chosen among those that match `{words}`. */
    chosen: textsSchema,
    /** The sentence about the entity `{name}` that was not among the first rows of a list. */
    later: textsSchema,
  }),
  /** After a refusal, before the next try. */
  refused: textsSchema,
  /** Before a change of mind. */
  revising: textsSchema,
  /** After a refusal, before another request. */
  leaveIt: textsSchema,
  indirect: textsSchema,
  corrections: textsSchema,
  /** After a request that takes over what was said before. */
  unchanged: textsSchema,
  reasons: textsSchema,
  /** How the assistant's message begins: after a change, after a look-up, before a question. */
  openers: z.strictObject({ write: textsSchema, read: textsSchema, ask: textsSchema }),
  /** Between what was done and a question. */
  asking: textsSchema,
  /** Between what was done and what could not be done. */
  but: textsSchema,
  /** What was done after the first choice was refused. */
  instead: textsSchema,
  accept: textsSchema,
  giveUp: textsSchema,
  nothing: textsSchema,
  done: textsSchema,
  cannot: textsSchema,
  personas: z.array(personaSchema).min(1),
});

export type StyleGuide = z.infer<typeof styleGuideSchema>;
export type Persona = z.infer<typeof personaSchema>;

export const readStyleGuide = (resources: string): StyleGuide =>
  readJsonFile(styleGuideSchema, join(resources, "personas.json"));

export const pickPersona = ({ personas }: StyleGuide, random: Random): Persona =>
  random.pickWeighted(personas, it => it.weight);
