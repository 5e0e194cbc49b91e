/**
 * The table of commands. Help and suggestions read only this table; the module of a command is
 * loaded when the command is run or described.
 */
import type { CliCommand } from "./command.ts";

export interface CommandEntry {
  readonly name: string;
  /** The heading in the list of commands. A command without a group is not listed. */
  readonly group?: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly load: () => Promise<CliCommand>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "servers",
    group: "Servers",
    summary: "list the servers and what their state holds",
    load: async () => (await import("./servers.ts")).servers,
  },
  {
    name: "tools",
    group: "Servers",
    summary: "list tools with their arguments",
    load: async () => (await import("./tools.ts")).tools,
  },
  {
    name: "call",
    group: "Servers",
    summary: "make one call in a fresh session and show what it changes",
    load: async () => (await import("./call.ts")).call,
  },
  {
    name: "new-server",
    group: "Servers",
    summary: "write a small server of your own in TypeScript",
    load: async () => (await import("./newServer.ts")).newServer,
  },
  {
    name: "connect",
    group: "Servers",
    summary: "make a third-party server an environment",
    load: async () => (await import("./connect.ts")).connect,
  },
  {
    name: "record",
    group: "Servers",
    summary: "record what a remote server answers, or one that cannot be reset",
    load: async () => (await import("./record.ts")).record,
  },
  {
    name: "stdio",
    group: "Servers",
    summary: "serve one server over MCP on stdin and stdout",
    load: async () => (await import("./stdio.ts")).stdio,
  },
  {
    name: "serve",
    group: "Servers",
    summary: "serve all servers over HTTP, for trainers and MCP clients",
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "world",
    group: "Servers",
    summary: "write the fixtures of a world as files, or check fixtures",
    load: async () => (await import("./world.ts")).world,
  },
  {
    name: "graph",
    group: "Tasks",
    summary: "list the dependencies between tools, and verify them",
    load: async () => (await import("./graph.ts")).graph,
  },
  {
    name: "synthesize",
    group: "Tasks",
    summary: "make tasks with their teacher's trajectories",
    load: async () => (await import("./synthesize.ts")).synthesize,
  },
  {
    name: "variants",
    group: "Tasks",
    summary: "make more tasks like one task of a file",
    load: async () => (await import("./variants.ts")).variants,
  },
  {
    name: "import",
    group: "Tasks",
    summary: "convert data sets to tasks, and rollouts of other software to trajectories",
    load: async () => (await import("./import.ts")).importTasks,
  },
  {
    name: "report",
    group: "Tasks",
    summary: "count the tasks of a file, and measure their shape and splits",
    load: async () => (await import("./report.ts")).report,
  },
  {
    name: "replay",
    group: "Tasks",
    summary: "replay recorded attempts and report differences",
    load: async () => (await import("./replay.ts")).replay,
  },
  {
    name: "export",
    group: "Tasks",
    summary: "write tasks as a data set for other training frameworks",
    load: async () => (await import("./export.ts")).exportTasks,
  },
  {
    name: "train",
    group: "Training",
    summary: "start or resume a run",
    load: async () => (await import("./train.ts")).train,
  },
  {
    name: "plan",
    group: "Training",
    summary: "estimate the memory and the time of a training before it is started",
    load: async () => (await import("./train.ts")).plan,
  },
  {
    name: "model",
    group: "Training",
    summary: "describe a model folder, write one from GGUF, and set how it reads conversations",
    load: async () => (await import("./model.ts")).model,
  },
  {
    name: "loop",
    group: "Training",
    summary: "synthesize, train and measure, all in one command",
    load: async () => (await import("./loop.ts")).loop,
  },
  {
    name: "engine",
    group: "Training",
    summary: "prepare a training with TRL or verl",
    load: async () => (await import("./engine.ts")).engine,
  },
  {
    name: "warm-start",
    group: "Training",
    summary: "train the shipped student again from random weights",
    load: async () => (await import("./warmStart.ts")).warmStart,
  },
  {
    name: "backend",
    group: "Training",
    summary: "install native backends of TensorFlow.js, which train on a graphics card",
    load: async () => (await import("./backend.ts")).backend,
  },
  {
    name: "score",
    group: "Measuring",
    summary: "score recorded attempts, or calls of other programs",
    load: async () => (await import("./score.ts")).score,
  },
  {
    name: "evaluate",
    group: "Measuring",
    summary: "let a policy attempt held-out tasks and print the metrics",
    load: async () => (await import("./evaluate.ts")).evaluate,
  },
  {
    name: "benchmark",
    group: "Measuring",
    summary: "measure a model with the official program of a benchmark",
    load: async () => (await import("./officialBenchmark.ts")).benchmark,
  },
  {
    name: "audit",
    group: "Measuring",
    summary: "check what tasks accept by letting solvers play them",
    load: async () => (await import("./audit.ts")).audit,
  },
  {
    name: "bench",
    group: "Measuring",
    summary: "measure speed and memory",
    load: async () => (await import("./bench.ts")).bench,
  },
  {
    name: "inspect",
    group: "Measuring",
    summary: "answer an agent's questions on runs, attempts and tasks over MCP on stdin and stdout",
    load: async () => (await import("./inspect.ts")).inspect,
  },
  {
    name: "schemas",
    group: "Maintenance",
    summary: "write the JSON Schemas of the product's files",
    load: async () => (await import("./schemas.ts")).schemas,
  },
  {
    name: "work",
    summary: "run long work for the editor, which forks this program",
    load: async () => (await import("./work.ts")).work,
  },
  {
    name: "policy",
    summary: "answer chats for the service, which forks this program",
    load: async () => (await import("./policyCommand.ts")).policy,
  },
];
