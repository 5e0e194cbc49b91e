/** The objectives and rewards that a training can be started with, without settings of its own. */
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
    description: "the paper's objective · reward prove-plus: the paper's five parts and success",
    objective: "prove",
    profile: "prove-plus",
  },
  {
    label: "GRPO, the paper's reward",
    description: "the paper's objective · reward paper: five parts",
    objective: "prove",
    profile: "paper",
  },
  {
    label: "DAPO",
    description: "resamples groups without a gradient, no KL term · reward prove-plus",
    objective: "dapo",
    profile: "prove-plus",
  },
  {
    label: "Dr. GRPO",
    description: "advantages that are not scaled, no KL term · reward prove-plus",
    objective: "dr-grpo",
    profile: "prove-plus",
  },
  {
    label: "GSPO",
    description: "one importance ratio per attempt, no KL term · reward prove-plus",
    objective: "gspo",
    profile: "prove-plus",
  },
];
