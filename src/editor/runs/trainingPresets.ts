/** The objectives and rewards that a training can be started with, without settings of its own. */
import { defaultProfile } from "../../reward/profiles.ts";
import type { GrpoSettings } from "../../run/config.ts";

export interface Preset {
  readonly label: string;
  readonly description: string;
  readonly objective: GrpoSettings["objective"];
  readonly profile: string;
}

export const presets: readonly Preset[] = [
  {
    label: "GRPO",
    description: `the paper's objective · reward ${defaultProfile.name}: the paper's five parts and success`,
    objective: "prove",
    profile: defaultProfile.name,
  },
  {
    label: "GRPO, the paper's reward",
    description: "the paper's objective · reward paper: five parts",
    objective: "prove",
    profile: "paper",
  },
  {
    label: "DAPO",
    description: `resamples groups without a gradient, no KL term · reward ${defaultProfile.name}`,
    objective: "dapo",
    profile: defaultProfile.name,
  },
  {
    label: "Dr. GRPO",
    description: `advantages that are not scaled, no KL term · reward ${defaultProfile.name}`,
    objective: "dr-grpo",
    profile: defaultProfile.name,
  },
  {
    label: "GSPO",
    description: `one importance ratio per attempt, no KL term · reward ${defaultProfile.name}`,
    objective: "gspo",
    profile: defaultProfile.name,
  },
];
