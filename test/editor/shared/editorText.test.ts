/** Messages in the editor: no words of the command line, and no absolute paths. */
import { globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { UserError } from "../../../src/userError.ts";
import { createVscode } from "../fakeVscode.ts";

const shown = vi.hoisted(() => [] as string[]);
vi.mock("vscode", () => {
  const api = createVscode();
  return {
    ...api,
    window: {
      showErrorMessage: async (message: string) => void shown.push(message),
      createOutputChannel: () => ({ warn() {}, error() {} }),
    },
    workspace: {
      ...api.workspace,
      workspaceFolders: [{ uri: { fsPath: join("/data", "my work") } }],
    },
  };
});
const { setShippedFolder, toEditorWords } =
  await import("../../../src/editor/shared/editorText.ts");
const { reportError } = await import("../../../src/editor/shared/report.ts");

const root = join(import.meta.dirname, "../../..");

/** What a notification says about an error. */
function show(what: string, remedy: string): string {
  shown.length = 0;
  reportError(new UserError(what, remedy));
  return shown[0]!;
}

test("paths are relative to the workspace folder, or names", () => {
  setShippedFolder("/opt/extensions/prove-rl.prove-rl-1.0.0");
  expect(
    show("/data/my work/prove/runs/example has no checkpoint", "look into /data/my work"),
  ).toBe("prove/runs/example has no checkpoint. Look into my work.");
  expect(
    show(
      "the model in /opt/extensions/prove-rl.prove-rl-1.0.0/resources/models/careless: it is old",
      `copy it to ${join(homedir(), "models")}`,
    ),
  ).toBe("The model in careless: it is old. Copy it to ~/models.");
  // neither a pointer into a state nor a folder whose name begins alike is a path of the workspace
  expect(show("/banking/world is 600", "see /data/my workshop/notes")).toBe(
    "/banking/world is 600. See /data/my workshop/notes.",
  );
});

test("a remedy is in the editor's words", () => {
  expect(show("the disk is full", "free some space, then continue with --resume")).toBe(
    "The disk is full. Free some space, then resume it.",
  );
  expect(
    show(
      "task a is too long",
      "set a longer context with prove-rl model /m/x --context N, or wait",
    ),
  ).toBe("Task a is too long. Set a longer context in prove.json of the model's folder, or wait.");
});

/** Modules whose messages reach the editor, and what only the terminal program asks of them. */
const modules = ["compute", "editor", "model", "run", "storage", "synthesis", "train"];
const onlyInTerminal = [
  "leave out --constrain, which works with small students",
  "run the command itself instead, such as prove-rl synthesize",
  "use Node 22.15 or later, or give a log in JSON: inspect log convert --to json",
  "merge them with llama-gguf-split --merge, and name the file that it writes",
  "raise --max-tokens, offer fewer tools with --menu chain, or make shorter tasks with --preset student",
  "prepare both stages in trl, or give the model that they made with --model",
  "write it as one with prove-rl model --from-gguf FILE --out FOLDER, and give that",
];
const commandLine = /prove-rl [a-z]+|--[a-z]{3,}/;

const readCode = (file: string) =>
  readFileSync(join(root, file), "utf8").replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "");

test("no message of a shared module keeps a word of the command line", () => {
  const files = [
    ...modules
      .flatMap(it => globSync(`src/${it}/**/*.ts`, { cwd: root }))
      .filter(it => !it.endsWith("editorText.ts")),
    ...globSync("src/cli/work*.ts", { cwd: root }),
    "src/app/makePlan.ts",
    "src/app/engineFolder.ts",
  ];
  const texts = files.flatMap(file =>
    [...readCode(file).matchAll(/"[^"\n]*"|`[^`]*`/g)]
      .map(([quoted]) => quoted.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "x"))
      // a message has words around the option, unlike an argument of a process
      .filter(it => commandLine.test(it) && /[a-z] .*[a-z] /.test(it))
      .map(text => ({ file, text })),
  );
  const left = texts.filter(
    ({ text }) => !onlyInTerminal.includes(text) && commandLine.test(toEditorWords(text)),
  );
  expect(texts.length).toBeGreaterThan(20);
  expect(left).toEqual([]);
});
