#!/usr/bin/env node
/**
 * The terminal program: finds the command, gives it the terminal, turns what it throws into an exit
 * code.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { openCatalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { loadServers } from "../servers/catalog.ts";
import { version } from "../version.ts";
import type { CliCommand, CliContext } from "./command.ts";

/** Loaded when asked for: a look at the servers does not wait for the numerics. */
const commands: Readonly<Record<string, () => Promise<CliCommand>>> = {
  servers: async () => (await import("./servers.ts")).servers,
  tools: async () => (await import("./tools.ts")).tools,
  call: async () => (await import("./call.ts")).call,
  stdio: async () => (await import("./stdio.ts")).stdio,
  serve: async () => (await import("./serve.ts")).serve,
  replay: async () => (await import("./replay.ts")).replay,
  score: async () => (await import("./score.ts")).score,
  graph: async () => (await import("./graph.ts")).graph,
  synthesize: async () => (await import("./synthesize.ts")).synthesize,
  variants: async () => (await import("./variants.ts")).variants,
  import: async () => (await import("./import.ts")).importTasks,
  train: async () => (await import("./train.ts")).train,
  evaluate: async () => (await import("./evaluate.ts")).evaluate,
  loop: async () => (await import("./loop.ts")).loop,
  "warm-start": async () => (await import("./warmStart.ts")).warmStart,
  bench: async () => (await import("./bench.ts")).bench,
  work: async () => (await import("./work.ts")).work,
  schemas: async () => (await import("./schemas.ts")).schemas,
  world: async () => (await import("./world.ts")).world,
};

/** Aborted by Ctrl-C, and by SIGTERM. */
const interruption = new AbortController();
let hasReportedInterruption = false;

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    process.stdout.write(await help());
    return 0;
  }
  if (name === "--version") {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  try {
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!load)
      throw new UserError(
        `there is no command ${name}`,
        `choose one of ${Object.keys(commands).join(", ")}`,
      );
    const command = await load();
    if (args.includes("--help")) {
      process.stdout.write(`prove-rl ${command.usage}\n\n${command.summary}\n`);
      return 0;
    }
    const { positionals, values } = parsed(name, command, args);
    return await command.run(await openTerminal(process.cwd()), positionals, values);
  } catch (error) {
    return report(error);
  }
}

function parsed(name: string, command: CliCommand, args: string[]) {
  try {
    return parseArgs({ args, options: command.options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw new UserError(
      `${name}: ${(cause as Error).message}`,
      `usage: prove-rl ${command.usage}`,
      {
        cause,
      },
    );
  }
}

async function openTerminal(cwd: string): Promise<CliContext> {
  const resources = folderAbove(
    import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
    "resources",
  );
  const prove = join(cwd, "prove");
  const interrupt = (signal: NodeJS.Signals) => {
    interruption.abort(new UserError(`stopped by ${signal}`, "run it again to continue"));
    // a command that does not stop by itself is ended within two seconds
    setTimeout(() => {
      report(interruption.signal.reason);
      process.exit(130);
    }, 1_800).unref();
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  // whoever reads stdout may leave early (`| head`): that ends the program, quietly
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    print: line => void process.stdout.write(`${line}\n`),
    printNote: line => void process.stderr.write(`${clear}${line}\n`),
    showProgress: progressOn(process.stderr),
    stdin: process.stdin,
    stdout: process.stdout,
    signal: interruption.signal,
    cwd,
    resources,
    dist: join(resources, "..", "dist"),
    prove,
    catalog: openCatalog(await loadServers(), [
      join(prove, "fixtures"),
      join(resources, "servers"),
    ]),
  };
}

const clear = process.stderr.isTTY ? "\r\u001b[K" : "";

function progressOn(stderr: NodeJS.WriteStream): (line: string) => void {
  if (stderr.isTTY) return line => void stderr.write(`${clear}${line}`);
  let last = 0;
  return line => {
    const now = performance.now();
    if (last !== 0 && now - last < 5_000) return;
    last = now;
    stderr.write(`${line}\n`);
  };
}

/**
 * The nearest folder of that name in a folder above: beside dist/ when built, above src/ when run
 * from source.
 */
function folderAbove(from: string, name: string): string {
  const here = join(from, name);
  if (existsSync(here)) return here;
  const above = dirname(from);
  if (above === from) throw new Error(`there is no folder ${name} above the program`);
  return folderAbove(above, name);
}

function report(error: unknown): number {
  // what an interrupted command throws says no more than that
  if (interruption.signal.aborted) {
    if (hasReportedInterruption) return 2;
    hasReportedInterruption = true;
    const { what, remedy } = interruption.signal.reason as UserError;
    process.stderr.write(`${clear}prove-rl: ${what}; ${remedy}\n`);
    return 2;
  }
  if (error instanceof UserError) {
    process.stderr.write(`${clear}prove-rl: ${error.what}\n  ${error.remedy}\n`);
    return 2;
  }
  process.stderr.write(`${clear}${error instanceof Error ? error.stack : String(error)}\n`);
  return 70;
}

async function help(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map(load => load()));
  const rows = all.map(it => `  ${it.usage}\n      ${it.summary}`);
  return `prove-rl <command>   live tool servers, synthesized conversations, programmatic rewards, training\n\n${rows.join("\n")}\n`;
}

process.exitCode = await main(process.argv.slice(2));
