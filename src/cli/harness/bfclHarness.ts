/** The multi-turn categories of the Berkeley Function-Calling Leaderboard. */
import { join } from "node:path";
import { bfcl } from "../rollouts/bfclRollouts.ts";
import type { Harness } from "./harness.ts";

const categories = {
  multi_turn_base: "Base",
  multi_turn_miss_param: "MissParam",
  multi_turn_miss_func: "MissFunc",
  multi_turn_long_context: "LongCtx",
};

export const bfclHarness: Harness = {
  name: "bfcl",
  title: "BFCL",
  packages: {
    name: "bfcl-eval",
    version: "2026.3.23",
    isExact: true,
    requirements: "bfcl-requirements.txt",
    modules: [
      "bfcl_eval",
      "openai",
      "overrides",
      "tenacity",
      "tqdm",
      "dotenv",
      "filelock",
      "mpmath",
    ],
    megabytes: 100,
  },
  script: "bfcl_run.py",
  table: { categories, overall: "Overall" },
  usual: Object.keys(categories),
  temperature: 0.001,
  hasParts: false,
  hasUsers: false,
  format: bfcl,
  results: [
    { path: join("result", "model", "multi_turn"), toAttempt: it => it, toEntries: it => [it] },
  ],
};
