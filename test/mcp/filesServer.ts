/**
 * An MCP server that works on the files of a folder, as many do: its results are lines of text, and
 * its tools take full paths. `list_directory` shows names with a marker, `find_files` shows paths.
 * The lines of `plan.md` have numbers.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { createInterface } from "node:readline";

const [, , root = ""] = process.argv;
type Args = Readonly<Record<string, string>>;

const check = (path = ""): string => {
  if (!`${resolve(path)}${sep}`.startsWith(`${root}${sep}`)) throw new Error(`denied: ${path}`);
  return path;
};
const list = (path: string) => readdirSync(path, { withFileTypes: true });

const steps = () => readFileSync(join(root, "plan.md"), "utf8").trim().split("\n");

const tools: Readonly<Record<string, readonly [string[], (args: Args) => string]>> = {
  list_steps: [[], () => JSON.stringify(steps().map((text, i) => ({ id: i + 31, text })))],
  get_step: [
    ["step_number"],
    ({ step_number: number }) => {
      const step = steps()[Number(number) - 31];
      if (step === undefined) throw new Error(`no step ${number}`);
      return step;
    },
  ],
  list_directory: [
    ["path"],
    ({ path }) =>
      list(check(path))
        .map(it => `${it.isDirectory() ? "[DIR]" : "[FILE]"} ${it.name}`)
        .join("\n"),
  ],
  find_files: [
    ["pattern"],
    ({ pattern = "" }) =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .filter(it => it.endsWith(pattern.replace(/^.*\*/, "")))
        .sort()
        .map(it => join(root, it))
        .join("\n"),
  ],
  read_file: [["path"], ({ path }) => readFileSync(check(path), "utf8")],
  write_file: [
    ["path", "content"],
    ({ path, content = "" }) => {
      writeFileSync(check(path), content);
      return "written";
    },
  ],
  move_file: [
    ["source", "destination"],
    ({ source = "", destination = "" }) => {
      if (existsSync(check(destination))) throw new Error(`${destination} exists`);
      renameSync(check(source), destination);
      return "moved";
    },
  ],
};

const listed = Object.entries(tools).map(([name, [keys]]) => ({
  name,
  description: `${name.replace("_", " ")}.`,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(
      keys.map(it => [it, { type: it === "step_number" ? "integer" : "string" }]),
    ),
    required: keys,
  },
}));

function answer(name: string, args: Args): object {
  try {
    return { content: [{ type: "text", text: tools[name]![1](args) }] };
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: (error as Error).message }] };
  }
}

createInterface({ input: process.stdin }).on("line", line => {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params: { name: string; arguments: Args; protocolVersion: string };
  };
  if (id === undefined) return;
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "files", version: "1" },
        }
      : method === "tools/list"
        ? { tools: listed }
        : answer(params.name, params.arguments);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
