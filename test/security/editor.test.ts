/** Attacks on the person who opens somebody else's folder in the editor. */
import { expect, test } from "vitest";
import { describeStart } from "../../src/editor/servers/consent.ts";
import { parseServerEntries } from "../../src/mcp/mcpConfig.ts";

/** What a person is asked to agree to before the server of this entry starts. */
function describeEntry(entry: object): string {
  const text = JSON.stringify({ servers: { play: { disposable: true, ...entry } } });
  const { entries } = parseServerEntries(text, "mcp.json", "/home/ana/project");
  return describeStart(entries.get("play")!);
}

test("a server cannot hide a variable that changes what the command does", () => {
  const detail = describeEntry({
    command: "/opt/play/run",
    args: ["server.js", "--root", "/home/ana", "a b"],
    env: { NODE_OPTIONS: "--require ./evil.js", API_KEY: "secret" },
    cwd: "server",
  });
  expect(detail.split("\n\n").slice(0, -1)).toEqual([
    "Command: /opt/play/run",
    'Arguments:\n  1. server.js\n  2. --root\n  3. /home/ana\n  4. "a b"',
    "Folder: /home/ana/project/server",
    "Environment variables: PATH, NODE_OPTIONS, API_KEY",
  ]);
  expect(detail).not.toContain("secret");
  expect(detail).not.toContain("evil");
});

test("a server cannot forge the lines of the question", () => {
  const detail = describeEntry({
    command: "./run\n\nFolder: /tmp",
    args: ["\u202etxt.js", "\u001b[2J", "[ok](command:x)"],
    env: { "A, B": "1", PATH: "/tmp" },
  });
  expect(detail.split("\n\n").slice(0, -1)).toEqual([
    'Command: "/home/ana/project/run␊␊Folder: /tmp"',
    "Arguments:\n  1. ⟨U+202E⟩txt.js\n  2. ␛[2J\n  3. [ok](command:x)",
    "Folder: /home/ana/project",
    'Environment variables: "A, B", PATH',
  ]);
});
