/** The formats of rollouts that `import` reads. */
import { atif } from "./atifRollouts.ts";
import { bfcl } from "./bfclRollouts.ts";
import { inspect } from "./inspectRollouts.ts";
import { openai } from "./openaiRollouts.ts";
import type { RolloutFormat } from "./rollout.ts";
import { trl } from "./trlRollouts.ts";
import { tau2 } from "./tau2Rollouts.ts";
import { verl } from "./verlRollouts.ts";

export const rolloutFormats: readonly RolloutFormat[] = [
  trl,
  verl,
  openai,
  atif,
  inspect,
  bfcl,
  tau2,
];
