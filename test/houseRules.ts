/**
 * The rules of the house as functions from a source file to complaints: who may import whom, names,
 * sizes, chance and time. They read text, not syntax trees: what they look for is spelled in one
 * way in this codebase.
 */

export interface Source {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Rule {
  readonly name: string;
  /** What is wrong with a file; empty where the rule holds or does not apply. */
  readonly complaints: (source: Source) => readonly string[];
  /** Files that break the rule: a rule that lets one pass is no rule. */
  readonly broken: readonly Source[];
}

interface Room {
  /** Rooms whose values and types may be imported. */
  readonly rooms: string;
  readonly packages?: string;
  /** Only types, also of zod, `node:` and the root's files. */
  readonly typesOnly?: true;
  /** Further rooms for single files. */
  readonly files?: Readonly<Record<string, string>>;
}

const tfjs = "@tensorflow/tfjs-core";
const everything =
  "environment servers world mcp trajectory policy synthesis reward evaluation run compute model train service engine protocol";

const rooms: Readonly<Record<string, Room>> = {
  environment: { rooms: "" },
  servers: { rooms: "environment" },
  world: { rooms: "environment servers" },
  mcp: {
    rooms: "environment",
    packages: "@modelcontextprotocol/sdk",
    files: { "stdio.ts": "servers", "http.ts": "servers" },
  },
  trajectory: { rooms: "environment" },
  policy: { rooms: "trajectory environment" },
  synthesis: { rooms: "policy trajectory environment" },
  reward: { rooms: "trajectory environment" },
  evaluation: { rooms: "reward policy trajectory environment" },
  run: { rooms: "reward trajectory environment", files: { "attach.ts": "protocol" } },
  compute: {
    rooms: "",
    packages: `${tfjs} @tensorflow/tfjs-backend-cpu @tensorflow/tfjs-backend-wasm @tensorflow/tfjs-backend-webgpu @tensorflow/tfjs-node-gpu webgpu`,
  },
  model: { rooms: "compute policy trajectory", packages: tfjs },
  train: {
    rooms: "model compute run evaluation reward policy trajectory environment protocol",
    packages: tfjs,
    files: { "main.ts": "servers mcp synthesis" },
  },
  service: { rooms: "run reward synthesis policy trajectory environment servers mcp" },
  engine: { rooms: "run trajectory environment reward" },
  protocol: { rooms: "environment trajectory policy reward run", typesOnly: true },
  cli: { rooms: everything },
  editor: {
    rooms: everything.replace("compute model train ", ""),
    packages: "vscode @vscode/debugadapter @vscode/debugprotocol",
  },
};

/** Of the root: open to every room. */
const openFiles = ["mistake", "version"];

export interface Import {
  readonly target: string;
  readonly typesOnly: boolean;
}

/**
 * What a file imports and re-exports, static and dynamic. `import { type A }` counts as a value:
 * the module is still loaded.
 */
export function importsOf(text: string): readonly Import[] {
  const fixed = text.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[\w*{][^;"']*?\sfrom\s+)?["']([^"']+)["']/gm,
  );
  const dynamic = text.matchAll(/(?<!typeof )\bimport\(\s*["']([^"']+)["']/g);
  return [
    ...[...fixed].map(it => ({ target: it[2]!, typesOnly: it[1] !== undefined })),
    ...[...dynamic].map(it => ({ target: it[1]!, typesOnly: false })),
  ];
}

function importComplaints({ path, text }: Source): readonly string[] {
  if (path.startsWith("webview/")) return importsOf(text).flatMap(it => webviewComplaint(path, it));
  const [, place = "", file = ""] = /^src\/(?:(\w+)\/)?(.+)$/.exec(path) ?? [];
  if (!path.startsWith("src/")) return [];
  if (!place && file !== "extension.ts")
    return importsOf(text).map(it => `imports ${it.target}: a file of the root imports nothing`);
  const name = place || "editor";
  const room = rooms[name];
  if (!room) return [`${name} is not a room of the house`];
  return importsOf(text).flatMap(it => roomComplaint(path, name, room, file, it));
}

function roomComplaint(
  path: string,
  name: string,
  room: Room,
  file: string,
  { target, typesOnly }: Import,
): readonly string[] {
  if (room.typesOnly && !typesOnly)
    return [`imports ${target} as a value: ${name} takes types only`];
  // of a reward's neighbours that everyone may use, it takes types only: it does no IO and cannot
  // fail
  const open = name !== "reward" || typesOnly;
  if (target.startsWith("node:") || target === "zod")
    return open ? [] : [`imports ${target} as a value: ${name} takes types only`];
  if (!target.startsWith(".")) {
    const allowed = (room.packages ?? "")
      .split(" ")
      .some(it => it !== "" && (target === it || target.startsWith(`${it}/`)));
    return allowed ? [] : [`imports the package ${target}, which ${name} does not know`];
  }
  const [folder, to] = roomOf(path, target);
  if (folder === "src" && openFiles.includes(to))
    return open || to === "version" ? [] : [`imports ${to} as a value: ${name} takes types only`];
  if (folder === "src" && (to === name || (path === "src/extension.ts" && to === "editor")))
    return [];
  const allowed = `${room.rooms} ${room.files?.[file] ?? ""}`.split(" ").includes(to);
  return folder === "src" && allowed ? [] : [`imports ${target}: ${name} may not know ${to}`];
}

function webviewComplaint(path: string, { target, typesOnly }: Import): readonly string[] {
  if (target.startsWith("node:") || target === "vscode")
    return [`imports ${target}: a page has neither`];
  if (!target.startsWith("."))
    return target === "zod" && !typesOnly
      ? ["imports zod as a value: webview takes types only"]
      : [];
  const [folder, to] = roomOf(path, target);
  if (folder === "webview" || (folder === "src" && to === "protocol" && typesOnly)) return [];
  return [`imports ${target}: webview knows types of protocol and itself`];
}

/** The top folder that a relative import leads to, and the room or root file in it. */
function roomOf(path: string, target: string): readonly [string, string] {
  const [folder = "", to = ""] = new URL(target, `file:///${path}`).pathname.slice(1).split("/");
  return [folder, to.replace(/\.ts$/, "")];
}

const banned = [
  "manager",
  "helper",
  "util",
  "handler",
  "service",
  "wrapper",
  "data",
  "info",
  "base",
  "impl",
];
const bannedFiles = /(^|\/)(utils?|common|helpers?|lib|types|index)(\.ts$|\/)/;

const wordsOf = (name: string) =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|[_\W]+/).map(it => it.toLowerCase());
const isBanned = (word: string) => banned.includes(word.replace(/s$/, "")) || banned.includes(word);

function nameComplaints({ path, text }: Source): readonly string[] {
  const file = path.replace("src/service/", "").replace(/^(src|webview)\//, "");
  const inPath = wordsOf(file).filter(isBanned);
  const declared = [
    ...text.matchAll(
      /^(?:export\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type)\s+(\w+)/gm,
    ),
  ].map(it => it[1]!);
  return [
    ...(bannedFiles.test(path) ? ["has a file name that says nothing"] : []),
    ...inPath.map(it => `has ${it} in its name`),
    ...declared.filter(it => wordsOf(it).some(isBanned)).map(it => `declares ${it}`),
  ];
}

const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?<=^|\s)\/\/.*$/gm, "");

/** A rule that forbids some spellings in some places. */
const forbids = (name: string, where: RegExp, spelling: RegExp, broken: Source): Rule => ({
  name,
  complaints: ({ path, text }) =>
    where.test(path)
      ? [...withoutComments(text).matchAll(spelling)].map(it => `says ${it[0].trim()}`)
      : [],
  broken: [broken],
});

const code = /^(src|webview)\/.*\.ts$/;
const outside = /\.\.\/shared\b|(?<![\w.])\/work\//g;

export const rules: readonly Rule[] = [
  {
    name: "who may import whom",
    complaints: importComplaints,
    broken: [
      {
        path: "src/environment/session.ts",
        text: `import {\n  banking,\n} from "../servers/banking.ts";`,
      },
      { path: "src/reward/score.ts", text: `import { readFileSync } from "node:fs";` },
      { path: "src/reward/score.ts", text: `import { Mistake } from "../mistake.ts";` },
      {
        path: "src/protocol/rewardPage.ts",
        text: `import { partNames } from "../reward/breakdown.ts";`,
      },
      {
        path: "src/train/loop.ts",
        text: `export { synthesize } from "../synthesis/synthesize.ts";`,
      },
      { path: "src/cli/main.ts", text: `const vscode = await import("vscode");` },
      { path: "src/editor/training.ts", text: `import { train } from "../train/loop.ts";` },
      { path: "webview/run/main.ts", text: `import { score } from "../../src/reward/reward.ts";` },
      { path: "src/attic/old.ts", text: `import "node:fs";` },
    ],
  },
  {
    name: "names",
    complaints: source => (code.test(source.path) ? nameComplaints(source) : []),
    broken: [
      { path: "src/run/folder.ts", text: "export class FolderManager {}" },
      { path: "src/run/utils/folder.ts", text: "" },
      { path: "src/run/index.ts", text: "" },
      { path: "src/editor/treeHelpers.ts", text: "" },
    ],
  },
  {
    name: "at most 400 lines, or the reason in the opening comment (`Long because …`)",
    complaints: ({ path, text }) => {
      const lines = text.trimEnd().split("\n").length;
      return code.test(path) && lines > 400 && !/^\/\*\*[^/]*\bLong because\b/.test(text)
        ? [`has ${lines} lines`]
        : [];
    },
    broken: [
      { path: "src/run/folder.ts", text: `/** A run's folder. */${"\n".repeat(400)}export {};` },
    ],
  },
  {
    name: "an opening comment",
    complaints: ({ path, text }) =>
      code.test(path) && !/^(#!.*\n)?\/(\*\*|\/) ?\S?/.test(text)
        ? ["does not say what it is"]
        : [],
    broken: [{ path: "src/run/folder.ts", text: `import { join } from "node:path";` }],
  },
  forbids(
    "no clock, chance or locale from outside",
    /^src\/(environment|servers|synthesis|reward|trajectory)\//,
    /\b(Date\.now|Math\.random|performance\.now|randomUUID|localeCompare|toLocale\w*|Intl\.\w+|new Date\(\))/g,
    { path: "src/servers/banking.ts", text: "const now = Date.now();" },
  ),
  forbids(
    "text from outside is only text",
    code,
    /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|supportHtml)\b/g,
    {
      path: "webview/run/main.ts",
      text: "element.innerHTML = reply;",
    },
  ),
  forbids("nothing is evaluated", code, /(?<![.\w])eval\(|\bnew Function\(|["']node:vm["']/g, {
    path: "src/editor/watch.ts",
    text: "const value = eval(expression);",
  }),
  forbids(
    "no default exports",
    /^(src|webview|test)\/(?!.*vitest\.config).*\.ts$/,
    /^export default\b/gm,
    { path: "src/run/folder.ts", text: "export default 1;" },
  ),
  {
    name: "nothing outside the checkout",
    complaints: ({ path, text }) =>
      [...text.matchAll(outside)].map(it => `mentions ${it[0]} (${path})`),
    broken: [{ path: "README.md", text: ["..", "shared", "paper.md"].join("/") }],
  },
];
