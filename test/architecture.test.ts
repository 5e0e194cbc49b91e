/**
 * dependency-cruiser notices a forbidden import in every spelling. `npm run lint` runs the same
 * rules over the sources; here they run over small folders that break them.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import config from "../.dependency-cruiser.mjs";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "prove-architecture-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names of the rules that a folder with these files breaks. */
async function findViolations(files: Readonly<Record<string, string>>): Promise<string[]> {
  const base = mkdtempSync(join(folder, "case-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const { tsConfig: _, ...options } = config.options;
  const { output } = await cruise(
    Object.keys(files),
    { ...options, baseDir: base, validate: true, ruleSet: { forbidden: config.forbidden } },
    { bustTheCache: true },
  );
  return (output as ICruiseResult).summary.violations.map(it => it.rule.name);
}

const target = (path: string) => ({ [path]: "export const value = 1;\nexport type Value = 1;\n" });

describe("a forbidden import is reported", () => {
  test.each([
    [
      "environment: modules",
      "src/environment/session.ts",
      `import {\n  value,\n} from "../servers/banking/server.ts";`,
      "src/servers/banking/server.ts",
    ],
    [
      "reward: no built-ins",
      "src/reward/score.ts",
      `import { readFileSync } from "node:fs";\nreadFileSync("");`,
    ],
    [
      "reward: no input or output",
      "src/reward/score.ts",
      `import { value } from "../storage/jsonLines.ts";`,
      "src/storage/jsonLines.ts",
    ],
    [
      "protocol: types only",
      "src/protocol/rewardPage.ts",
      `import { value } from "../reward/breakdown.ts";`,
      "src/reward/breakdown.ts",
    ],
    [
      "train: modules",
      "src/train/loop.ts",
      `export { value } from "../synthesis/pipeline/synthesize.ts";`,
      "src/synthesis/pipeline/synthesize.ts",
    ],
    [
      "train: modules",
      "src/train/loop.ts",
      `export * from '../synthesis/pipeline/synthesize.ts';`,
      "src/synthesis/pipeline/synthesize.ts",
    ],
    ["cli: packages", "src/cli/main.ts", `const vscode = await import("vscode");`],
    [
      "src: only extension.ts imports the editor",
      "src/cli/main.ts",
      `const vscode = await import("vscode");`,
    ],
    [
      "editor: modules",
      "src/editor/runs/training.ts",
      `import { value } from "../../train/loop.ts";`,
      "src/train/loop.ts",
    ],
    [
      "webview: types only of protocol",
      "webview/run/main.ts",
      `import { value } from "../../src/reward/score.ts";`,
      "src/reward/score.ts",
    ],
    [
      "webview: neither Node nor the editor",
      "webview/run/main.ts",
      `import { join } from "node:path";\njoin();`,
    ],
    [
      "editor/attempts: folders",
      "src/editor/attempts/transcripts.ts",
      `import type { Value } from "../runs/runsTree.ts";`,
      "src/editor/runs/runsTree.ts",
    ],
    [
      "model/transformer: folders",
      "src/model/transformer/decoder.ts",
      `import { value } from "../student/tokenizer.ts";`,
      "src/model/student/tokenizer.ts",
    ],
    [
      "synthesis/text: folders",
      "src/synthesis/text/templates.ts",
      `import type { Value } from "../user/intent.ts";`,
      "src/synthesis/user/intent.ts",
    ],
    [
      "src: no unknown module",
      "src/environment/session.ts",
      `import type { Value } from "../attic/old.ts";`,
      "src/attic/old.ts",
    ],
  ])("%s: %s", async (rule, path, text, imported?: string) => {
    const files = { [path]: text, ...(imported === undefined ? {} : target(imported)) };
    expect(await findViolations(files)).toContain(rule);
  });

  test("a cycle of type imports", async () => {
    const files = {
      "src/run/a.ts": `import type { B } from "./b.ts";\nexport type A = B | 1;`,
      "src/run/b.ts": `import type { A } from "./a.ts";\nexport type B = A | 2;`,
    };
    expect(await findViolations(files)).toContain("no import cycles");
  });
});

test("allowed imports are not reported", async () => {
  const files = {
    "src/reward/score.ts": `import type { Value } from "../trajectory/task.ts";`,
    "src/trajectory/task.ts": `import { value } from "../userError.ts";\nimport { join } from "node:path";\nexport type Value = 1;`,
    "webview/run/main.ts": `import type { Value } from "../../src/protocol/rewardPage.ts";`,
    ...target("src/userError.ts"),
    ...target("src/protocol/rewardPage.ts"),
  };
  expect(await findViolations(files)).toEqual([]);
});
