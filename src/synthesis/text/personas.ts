/** The style guide and the personas of simulated users, read from resources/personas.json. */
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
  /** In place of the manners' own words before a follow-up. */
  followUp: textsSchema.optional(),
  dates: z.enum(["plain", "day-first", "month-first", "relative", "short", "long", "weekday"]),
  /** Says 4:15 pm. */
  clock: z.literal(12).optional(),
  /** Writes without capitals and full stops. */
  casual: z.literal(true).optional(),
  /** Says "what's" and "I'd". */
  contracts: z.literal(true).optional(),
  /**
   * How often a question is asked in a roundabout way, a value is put right while it is said,
   * something is said that asks for nothing, requests are numbered, and the last of them comes as
   * an afterthought.
   */
  indirect: shareSchema.optional(),
  corrects: shareSchema.optional(),
  talks: shareSchema.optional(),
  numbers: shareSchema.optional(),
  afterthoughts: shareSchema.optional(),
  /** Small talk of this persona's own. */
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
  /** In place of both where the answer was that there is nothing. */
  sober: textsSchema,
  /** Before the answer to a question. */
  answering: textsSchema,
  /** After a refusal: before the next try, and before something else. */
  refused: textsSchema,
  leaveIt: textsSchema,
  indirect: textsSchema,
  corrections: textsSchema,
  reasons: textsSchema,
  /** How the assistant begins: after a change, after a look-up, before a question. */
  openers: z.strictObject({ write: textsSchema, read: textsSchema, ask: textsSchema }),
  /** Between what is done and what has to be asked or could not be done. */
  asking: textsSchema,
  but: textsSchema,
  /** What was done where the first choice was refused. */
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
