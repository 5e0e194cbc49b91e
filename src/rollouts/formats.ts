/** The formats of rollouts that other software writes. */
import { atif } from "./atifRollouts.ts";
import { bfcl } from "./bfclRollouts.ts";
import { openai, trl, verl } from "./chatRollouts.ts";
import { inspect } from "./inspectRollouts.ts";
import { nemoGym } from "./nemoGymRollouts.ts";
import { otlp } from "./otlpRollouts.ts";
import type { RolloutFormat } from "./rollout.ts";
import { tau2 } from "./tau2Rollouts.ts";
import { verifiers } from "./verifiersRollouts.ts";

export const rolloutFormats: readonly RolloutFormat[] = [
  trl,
  verl,
  openai,
  atif,
  inspect,
  bfcl,
  tau2,
  nemoGym,
  verifiers,
  otlp,
];

/** The format with that name. */
export function findFormat(name: string): RolloutFormat {
  const format = rolloutFormats.find(it => it.name === name);
  if (!format) throw new Error(`unknown format ${name}`);
  return format;
}
