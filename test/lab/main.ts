/**
 * The lab: measurements that are no part of the product, by name: `npm run lab -- NAME`. `npm run
 * lab -- help NAME` describes one.
 */
import { join } from "node:path";
import type { CommandEntry } from "../../src/cli/commands.ts";
import { runProgram } from "../../src/cli/program.ts";

const measurements: readonly CommandEntry[] = [
  {
    name: "bfcl",
    group: "Environment",
    summary: "compare calls with those of BFCL's own Python classes",
    load: async () => (await import("./bfcl.ts")).bfcl,
  },
  {
    name: "long-sessions",
    group: "Environment",
    summary: "measure ten thousand calls in one session",
    load: async () => (await import("./longSessions.ts")).longSessions,
  },
  {
    name: "memory",
    group: "Environment",
    summary: "measure the memory of ten thousand sessions",
    load: async () => (await import("./memory.ts")).memory,
  },
  {
    name: "serving",
    group: "Environment",
    summary: "measure calls over stdio and HTTP, and the SDK's own transport",
    load: async () => (await import("./serving.ts")).serving,
  },
  {
    name: "concurrency",
    group: "Environment",
    summary: "compare many sessions at once with other environments",
    load: async () => (await import("./concurrency.ts")).concurrency,
  },
  {
    name: "own-servers",
    group: "Environment",
    summary: "make third-party MCP servers environments, and measure what comes of it",
    load: async () => (await import("./ownServers.ts")).ownServers,
  },
  {
    name: "service-soak",
    group: "Environment",
    summary: "use the service while connections are cut and workers are killed",
    load: async () => (await import("./soak.ts")).serviceSoak,
  },
  {
    name: "tells",
    group: "Tasks and rewards",
    summary: "predict from the words of a task alone whether it needs a call",
    load: async () => (await import("./tells.ts")).tells,
  },
  {
    name: "parsers",
    group: "Tasks and rewards",
    summary: "compare readers of calls in the texts of models",
    load: async () => (await import("./parsers.ts")).parsers,
  },
  {
    name: "judges",
    group: "Tasks and rewards",
    summary: "let other benchmarks and ours judge cheats, and right attempts that differ",
    load: async () => (await import("./judges.ts")).judges,
  },
  {
    name: "rewards",
    group: "Tasks and rewards",
    summary: "measure what cheats earn under each reward",
    load: async () => (await import("./rewards.ts")).rewards,
  },
  {
    name: "ablations",
    group: "Training",
    summary: "compare reward profiles by training with each",
    load: async () => (await import("./ablations.ts")).ablations,
  },
  {
    name: "learning",
    group: "Training",
    summary: "train a student from random weights, and measure what it learns",
    load: async () => (await import("./learning.ts")).learning,
  },
  {
    name: "torch",
    group: "Training",
    summary: "compare the work of a training step with PyTorch",
    load: async () => (await import("./torch.ts")).torch,
  },
  {
    name: "backends",
    group: "Training",
    summary: "measure every backend that is installed",
    load: async () => (await import("./backends.ts")).backends,
  },
  {
    name: "workers",
    group: "Training",
    summary: "compare one worker with two",
    load: async () => (await import("./workers.ts")).workers,
  },
  {
    name: "training-memory",
    group: "Training",
    summary: "measure the memory of a long training",
    load: async () => (await import("./trainingMemory.ts")).trainingMemory,
  },
];

// this file is built to dist/lab
process.exitCode = await runProgram(measurements, join(import.meta.dirname, "../cli.js"), {
  name: "npm run lab --",
  description: "Measurements of the product, and comparisons with other software",
});
