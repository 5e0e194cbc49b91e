/** The script by which terminals of the editor start the command-line program. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../contracts/transports.ts";

const script = join(root, "resources/bin/prove-rl");

/** Runs the script in an empty folder; PATH has the Node.js of the tests. */
const start = (args: readonly string[], env: NodeJS.ProcessEnv): string =>
  execFileSync(script, args, {
    cwd: mkdtempSync(join(tmpdir(), "prove-terminal-")),
    env: { PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter), ...env },
    encoding: "utf8",
  });

describe.skipIf(process.platform === "win32")("resources/bin/prove-rl", () => {
  test("runs the program with the Node.js that the extension found, and all arguments", () => {
    const folder = mkdtempSync(join(tmpdir(), "prove node's folder-"));
    const node = join(folder, "node");
    writeFileSync(node, `#!/bin/sh\nprintf '%s|' "$ELECTRON_RUN_AS_NODE" "$@"\n`);
    chmodSync(node, 0o755);
    const args = ["call", "a tool", '{"x": "$HOME"}'];
    const [, program, ...given] = start(args, { PROVE_NODE: node }).split("|");
    expect(program).toMatch(/\/dist\/cli\.js$/);
    expect(given).toEqual([...args, ""]);
  });

  test("tells the editor's own runtime, and no other, to run as Node.js", () => {
    const node = join(mkdtempSync(join(tmpdir(), "prove-node-")), "node");
    writeFileSync(node, `#!/bin/sh\nprintf '%s' "$ELECTRON_RUN_AS_NODE"\n`);
    chmodSync(node, 0o755);
    expect(start([], { PROVE_NODE: node })).toBe("");
    expect(start([], { PROVE_NODE: node, PROVE_NODE_IS_ELECTRON: "1" })).toBe("1");
  });

  test("falls back to the Node.js on the PATH if that of the editor is gone", () => {
    expect(start(["--version"], { PROVE_NODE: "/gone/node" })).toMatch(/^\d+\.\d+\.\d+/);
  });
});
