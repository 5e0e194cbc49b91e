/**
 * The packages that `npm run package` and `npm pack` create: they are small and complete, have no
 * sources or native code, and work in an empty folder without a network.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, posix } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manifest, findPackage, repository } from "./packaged.ts";
import { extract, listEntries } from "./zip.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-packages-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The Node.js that started npm if the product supports its version, otherwise that of the tests.
 */
const [node, nodeVersion] = ((): readonly [string, string] => {
  const outer = process.env["npm_node_execpath"] ?? process.execPath;
  const version = execFileSync(outer, ["-p", "process.versions.node"], { encoding: "utf8" }).trim();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 12)
    ? [outer, version]
    : [process.execPath, process.versions.node];
})();

/** The environment of a machine without a network. `node` on its PATH is the one above. */
const offlineEnvironment = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}`,
  npm_config_offline: "true",
  npm_config_cache: join(folder, "npm-cache"),
  NODE_OPTIONS: "",
};

interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

describe("the VSIX", () => {
  const vsix = findPackage("vsix");
  let entries: readonly string[];
  beforeAll(async () => {
    entries = await listEntries(vsix);
  });

  test("is under 15 MB", () => {
    expect(statSync(vsix).size).toBeLessThan(15_000_000);
  });

  test("contains the programs and the files that they read", () => {
    const required = [
      "package.json",
      "readme.md",
      "changelog.md",
      "LICENSE.txt",
      "dist/extension/extension.cjs",
      "dist/cli.js",
      "dist/THIRD_PARTY_NOTICES.txt",
      "resources/servers/banking/fixtures/",
      "resources/bin/prove-rl",
      "resources/python/prove_rl/benchmarks/bfcl.py",
    ];
    expect(
      required.filter(it => !entries.some(entry => entry.startsWith(`extension/${it}`))),
    ).toEqual([]);
  });

  test("contains what its documentation links to", () => {
    const docs = entries.filter(it => /^extension\/docs\/.*\.md$/.test(it));
    expect(docs).toContain("extension/docs/README.md");
    const broken = docs.flatMap(page => {
      const text = readFileSync(join(repository, page.replace("extension/", "")), "utf8");
      const links = [...text.matchAll(/\]\(([^)\s#:]+)(#[^)]*)?\)/g)].map(it => it[1]!);
      return links.filter(it => !entries.includes(posix.join(posix.dirname(page), it)));
    });
    expect(broken).toEqual([]);
  });

  test("contains no sources, tests, maps, modules or native code", () => {
    const allowed =
      /^(extension\.vsixmanifest|\[Content_Types\]\.xml|extension\/(package\.json|readme\.md|changelog\.md|SECURITY\.md|LICENSE\.txt|(dist|docs|resources|media)\/.+))$/;
    const forbidden =
      /((?<!\.d)\.ts|\.(mts|map|node|so|dll|dylib|exe|vsix|tgz|pyc))$|(^|\/)(node_modules|test|src)\//;
    expect(entries.filter(it => !allowed.test(it) || forbidden.test(it))).toEqual([]);
  });
});

describe.each([
  ["installed from the tarball", installTarball],
  ["unpacked from the VSIX", extractVsix],
] as const)(`prove-rl on Node ${nodeVersion}, %s`, (_, prepare) => {
  let prove: (...args: string[]) => ProgramResult;
  let home: string;
  beforeAll(async () => {
    [prove, home] = await prepare();
  });

  test("lists its servers", () => {
    const { stdout, stderr, status } = prove("servers", "--json");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect((JSON.parse(stdout) as { name: string }[]).map(it => it.name)).toContain("banking");
  });

  test("answers a call", () => {
    const { stdout, stderr, status } = prove("call", "banking_list_accounts", "{}", "--json");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: { kind: "ok" } });
  });

  test("runs a server that the folder defines in TypeScript", () => {
    const example = join(repository, "test/servers/example/prove");
    cpSync(example, join(home, "prove"), { recursive: true });
    const { stdout, stderr, status } = prove(
      "call",
      "plant_care_get_plant",
      '{"plant_id": "plant_101"}',
      "--fixture",
      "small",
      "--json",
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: { value: { plant: "Big Monstera" } } });
  });

  test("replays the example's tasks", () => {
    const example = join(repository, "resources/example/prove/tasks");
    // some tasks are on a fixture of the workspace
    cpSync(join(example, "../fixtures"), join(home, "prove/fixtures"), { recursive: true });
    const { stdout, stderr, status } = prove(
      "replay",
      ...readdirSync(example).map(it => join(example, it)),
    );
    expect({ stdout, stderr, status }).toMatchObject({ status: 0 });
  });

  test("synthesizes tasks, and trains on them for two steps", () => {
    const made = prove("synthesize", "--out", "few.tasks.jsonl", "--count", "20", "--seed", "1");
    expect(made, made.stderr).toMatchObject({ status: 0 });
    expect(readFileSync(join(home, "few.tasks.jsonl"), "utf8").trim().split("\n")).toHaveLength(20);
    writeFileSync(join(home, "small.json"), JSON.stringify({ grpo: { prompts: 2, group: 4 } }));
    const trained = prove(
      "train",
      "--tasks",
      "few.tasks.jsonl",
      "--run",
      "run",
      "--steps",
      "2",
      "--config",
      "small.json",
    );
    expect(trained, trained.stderr).toMatchObject({ status: 0 });
    expect(readFileSync(join(home, "run/metrics.jsonl"), "utf8").trim().split("\n")).toHaveLength(
      2,
    );
    expect(existsSync(join(home, "run/checkpoints/2"))).toBe(true);
  });
});

/** A way to run the program, and the empty folder that it runs in. */
type Installation = readonly [prove: (...args: string[]) => ProgramResult, home: string];

/** The tarball, installed as a person would, in a folder with nothing in it. */
function installTarball(): Installation {
  const name = execFileSync(
    "npm",
    ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder],
    { cwd: repository, encoding: "utf8" },
  ).trim();
  const home = join(folder, "installed");
  mkdirSync(home);
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, name)], {
    cwd: home,
    env: offlineEnvironment,
    stdio: "pipe",
  });
  const notices = join(home, "node_modules", manifest.name, "dist/THIRD_PARTY_NOTICES.txt");
  if (!existsSync(notices)) throw new Error("the tarball has no third-party notices");
  return [(...args) => run(home, join(home, "node_modules/.bin", manifest.name), args), home];
}

async function extractVsix(): Promise<Installation> {
  const home = join(folder, "unpacked");
  await extract(findPackage("vsix"), home);
  return [(...args) => run(home, node, [join(home, "extension/dist/cli.js"), ...args]), home];
}

const run = (cwd: string, program: string, args: readonly string[]): ProgramResult =>
  spawnSync(program, args, { cwd, env: offlineEnvironment, encoding: "utf8" });
