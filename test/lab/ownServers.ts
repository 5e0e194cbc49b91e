/**
 * `own-servers`: makes third-party MCP servers environments, as docs/own-servers.md describes, and
 * measures what comes of it: the tools that are called with success, tasks, replay and solvers.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { AppContext } from "../../src/app/context.ts";
import { defineCommand, flag, option, optionalArgument } from "../../src/cli/command.ts";
import { countOf } from "../../src/cli/options.ts";
import type { AuditSummary, SolverSummary } from "../../src/evaluation/audit.ts";
import type { ServerFile } from "../../src/mcp/connected/serverFile.ts";
import { createTemporaryFolder } from "../../src/storage/temporaryFolders.ts";
import { UserError } from "../../src/userError.ts";
import { postgres, tables, triedServers, type TriedServer } from "./ownServerSeeds.ts";

const run = promisify(execFile);
const maxBuffer = 100_000_000;

interface Row {
  readonly name: string;
  readonly tools: number;
  readonly called: number;
  readonly effects: string;
  readonly probes: number;
  readonly tasks: number;
  readonly asked: number;
  /** Shares; undefined without tasks. */
  readonly same: number | undefined;
  readonly right: number | undefined;
  readonly wrong: number | undefined;
  readonly seconds: number;
  readonly processes: number;
  /** That were made to record the server. */
  readonly calls: number;
}

/** Installs a server into its own folder, unless it is there; returns how it is started. */
async function install(
  server: TriedServer,
  folder: string,
  { showProgress, signal }: AppContext,
): Promise<readonly string[]> {
  const own = join(folder, server.name);
  const options = { signal, maxBuffer };
  const isThere = existsSync(own);
  if (!isThere) {
    showProgress(`${server.name}: installing`);
    mkdirSync(own, { recursive: true });
  }
  try {
    if (server.npm !== undefined) {
      if (!isThere)
        await run("npm", ["install", "--prefix", own, "--ignore-scripts", server.npm], options);
      const name = server.npm.slice(0, server.npm.lastIndexOf("@"));
      return [process.execPath, join(own, "node_modules", name, server.program)];
    }
    if (!isThere) {
      await run("python3", ["-m", "venv", own], options);
      await run(join(own, "bin/pip"), ["install", "--quiet", ...server.pip!], options);
    }
    return [join(own, "bin", server.program)];
  } catch (cause) {
    rmSync(own, { recursive: true, force: true });
    throw new UserError(
      `${server.name} cannot be installed: ${(cause as Error).message.slice(0, 500)}`,
      "install npm and Python 3.10 or later with venv, and allow both their registries",
      { cause },
    );
  }
}

/** The template database, and the entry's keys that reset from it. */
async function preparePostgres(url: string): Promise<{ args: string[]; reset: object }> {
  const template = "prove_lab_template";
  const toUrl = (database: string) =>
    Object.assign(new URL(url), { pathname: `/${database}` }).toString();
  const query = (target: string, statement: string) =>
    run("psql", ["--no-psqlrc", "-v", "ON_ERROR_STOP=1", target, "-c", statement]);
  await query(url, `drop database if exists ${template}`);
  await query(url, `create database ${template}`);
  await query(toUrl(template), tables);
  return {
    args: [toUrl("${sandbox}").replaceAll("%7B", "{").replaceAll("%7D", "}")],
    reset: {
      command: ["psql", "-q", url, "-c", `create database "\${sandbox}" template ${template}`],
      remove: ["psql", "-q", url, "-c", 'drop database "${sandbox}" with (force)'],
    },
  };
}

interface Trial {
  readonly server: TriedServer;
  readonly command: readonly string[];
  /** Of PostgreSQL. */
  readonly more?: { readonly args: readonly string[]; readonly reset: object };
  readonly count: number;
  /** Whether it is recorded, without a reset. */
  readonly isRecorded: boolean;
}

async function tryServer(
  { server, command, more, count, isRecorded }: Trial,
  { resources, showProgress, signal, print }: AppContext,
): Promise<Row> {
  const { name } = server;
  const workspace = createTemporaryFolder("bench");
  const starts = join(workspace, "starts.txt");
  const tasks = join(workspace, `${name}.tasks.jsonl`);
  const start = performance.now();
  let child: ChildProcess | undefined;
  /** Runs the program; a failed check, which ends it with 1, is a part of the figures. */
  const prove = async (...args: readonly string[]): Promise<string> => {
    showProgress(`${name}: ${args[0]}`);
    const options = {
      cwd: workspace,
      env: { ...process.env, XDG_DATA_HOME: join(workspace, "data") },
      signal,
      maxBuffer,
    };
    try {
      return (await run(process.execPath, [join(resources, "../dist/cli.js"), ...args], options))
        .stdout;
    } catch (error) {
      const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
      if (code === 1 && !["connect", "record"].includes(args[0]!)) return stdout;
      print(`${name}: prove-rl ${args.join(" ")}\n${stderr}`);
      throw error;
    }
  };
  try {
    mkdirSync(join(workspace, "prove"));
    server.writeSeed?.(join(workspace, "seed"));
    if (isRecorded && server.http !== undefined) child = await listen(command, server.http);
    const inSandbox = {
      // a line for each process that is started
      command: "/bin/sh",
      args: [
        "-c",
        'echo started >> "$0"; exec "$@"',
        starts,
        ...command,
        ...(more?.args ?? server.args ?? []),
      ],
      env: server.env ?? {},
      reset: more?.reset ?? (server.writeSeed ? { folder: "seed" } : { restart: true }),
    };
    const { reset: _, ...program } = inSandbox;
    const entry = !isRecorded
      ? inSandbox
      : child
        ? { url: `http://127.0.0.1:${port}/mcp` }
        : { ...program, reads: server.reads ?? [] };
    writeFileSync(
      join(workspace, "prove/mcp.json"),
      JSON.stringify({ servers: { [name]: entry } }).replaceAll(
        isRecorded ? "${sandbox}" : /$^/g,
        join(workspace, "seed"),
      ),
    );
    let calls = 0;
    if (isRecorded) {
      const report = await prove("record", name, "--trust-server", "--json");
      ({ calls } = JSON.parse(report) as { calls: number });
      // what follows needs no server
      await end(child);
    }
    const { file, remarks } = JSON.parse(
      await prove("connect", name, "--trust-server", "--json"),
    ) as { file: ServerFile; remarks: string[] };
    for (const it of remarks) print(`${name}: ${it}`);
    await prove("synthesize", "--servers", name, "--count", String(count), "--out", tasks);
    const made = countLines(readFileSync(tasks, "utf8"));
    const differing = made > 0 ? countLines(await prove("replay", tasks, "--json")) : 0;
    const audit =
      made > 0 ? (JSON.parse(await prove("audit", tasks, "--json")) as AuditSummary) : undefined;
    const broken = Object.keys(file.leftOut ?? {}).length;
    const effects = Object.values(file.tools).map(it => it.effect);
    const failed = remarks.filter(it => /^no call of \S+ succeeded$/.test(it)).length;
    return {
      name: server.npm ?? server.pip![0]!,
      tools: effects.length + broken,
      called: effects.length - failed,
      effects: `${effects.filter(it => it === "read").length} read, ${effects.filter(it => it === "write").length} write`,
      probes: file.probes.length,
      tasks: made,
      asked: count,
      same: made > 0 ? 1 - differing / made : undefined,
      right: audit && computeSuccess(audit.solvers, "right"),
      wrong: audit && computeSuccess(audit.solvers, "wrong"),
      seconds: (performance.now() - start) / 1000,
      processes: existsSync(starts) ? countLines(readFileSync(starts, "utf8")) : 0,
      calls,
    };
  } finally {
    await end(child);
    rmSync(workspace, { recursive: true, force: true });
  }
}

const port = 3917;

/** Starts a server that listens at an address. */
async function listen([program = "", ...args]: readonly string[], how: string) {
  const child = spawn(program, [...args, how], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  // it says so
  await once(child.stderr, "data");
  child.stderr.resume();
  return child;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
}

const countLines = (text: string): number => text.split("\n").filter(Boolean).length;

/** The share of the attempts of solvers of a kind that succeeded. */
function computeSuccess(
  solvers: readonly SolverSummary[],
  kind: SolverSummary["kind"],
): number | undefined {
  const own = solvers.filter(it => it.kind === kind);
  const attempts = own.reduce((sum, it) => sum + it.tasks, 0);
  if (attempts === 0) return undefined;
  return own.reduce((sum, it) => sum + it.success * it.tasks, 0) / attempts;
}

/** The table, in Markdown. */
function formatRows(rows: readonly Row[]): string {
  const percent = (share: number | undefined) =>
    share === undefined ? "-" : `${(100 * share).toFixed(1)}%`;
  return [
    "| server | tools, called | effects | probes | tasks of asked | replay the same | right | wrong | seconds | processes | calls to record |",
    "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      it =>
        `| ${[
          `\`${it.name}\``,
          `${it.tools}, ${it.called}`,
          it.effects,
          it.probes,
          `${it.tasks} of ${it.asked}`,
          percent(it.same),
          percent(it.right),
          percent(it.wrong),
          it.seconds.toFixed(0),
          it.processes,
          it.calls,
        ].join(" | ")} |`,
    ),
  ].join("\n");
}

export const ownServers = defineCommand({
  name: "own-servers",
  description:
    "Make third-party MCP servers environments, and print what comes of each: tools that are called with success, effects, probes, tasks, the share of them that replays the same, the success of right and wrong solvers, seconds, processes started, and calls made to record them. Installs the servers with npm and pip.",
  arguments: [optionalArgument("[server]", "only that one")],
  options: {
    folder: option("--folder <folder>", "where the servers are, or are installed", {
      default: "own-servers",
    }),
    count: option("--count <n>", "the tasks to ask for, for each server", {
      parser: countOf("tasks"),
      default: 200,
    }),
    recorded: flag(
      "--recorded",
      "record the servers without a reset, server-everything over HTTP, instead of exploring them in sandboxes",
    ),
    postgres: option(
      "--postgres <url>",
      "a running PostgreSQL with the right to create databases; without it, its server is left out",
    ),
  },
  examples: [
    "own-servers --count 40",
    "own-servers git --folder /opt/own-servers",
    "own-servers --postgres postgresql://postgres@localhost:5432/postgres",
  ],
  async run(context, [only], { folder, count, recorded, postgres: url }) {
    const all: readonly TriedServer[] = [...triedServers, ...(url === undefined ? [] : [postgres])];
    const chosen = all.filter(it => only === undefined || it.name === only);
    if (chosen.length === 0)
      throw new UserError(
        `there is no server ${only}`,
        `choose one of ${all.map(it => it.name).join(", ")}`,
      );
    const rows: Row[] = [];
    for (const server of chosen) {
      const command = await install(server, resolve(context.cwd, folder), context);
      const more = server === postgres ? await preparePostgres(url!) : undefined;
      rows.push(
        await tryServer(
          { server, command, count, isRecorded: recorded, ...(more ? { more } : {}) },
          context,
        ),
      );
    }
    context.print(formatRows(rows));
    return 0;
  },
});
