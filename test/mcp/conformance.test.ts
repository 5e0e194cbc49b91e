/**
 * The official conformance suite for the protocol of 2025-11-25, run against our servers and, for
 * features that they do not use, against a fixture server on the same transport. An expected
 * failure that passes is a failure.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHttpServer } from "../../src/service/httpServer.ts";
import { emptyFolder } from "../cli/program.ts";
import { catalog, root } from "../contracts/transports.ts";
import { serveFixture } from "./fixtureServer.ts";

/**
 * The suite's exit code, and the scenarios with at least one check that passed and none that
 * failed.
 */
function conformance(
  url: string,
  expectedFailures: string,
): Promise<{ code: number | null; passed: string[]; text: string }> {
  const program = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const args = [
    "server",
    "--url",
    url,
    "--suite",
    "all",
    "--spec-version",
    "2025-11-25",
    "--expected-failures",
    join(import.meta.dirname, "conformance", expectedFailures),
  ];
  const child = spawn(process.execPath, [program, ...args], { cwd: emptyFolder() });
  let text = "";
  for (const it of [child.stdout, child.stderr])
    it.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", code =>
      resolve({
        code,
        passed: [...text.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed$/gm)].map(it => it[1]!),
        text,
      }),
    );
  });
}

test.each(["banking", "filesystem"])(
  "%s passes the scenarios that apply to a domain server",
  async name => {
    const serving = await startHttpServer({ catalog });
    try {
      const { id } = serving.sessions.open({
        owner: "conformance",
        servers: [{ name, fixture: "small" }],
        seed: 1,
      });
      const { code, passed, text } = await conformance(
        `${serving.url}${serving.mcpPath(id, name)}`,
        "domain.yml",
      );
      expect(code, text).toBe(0);
      expect(passed).toEqual([
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "resources-list",
        "dns-rebinding-protection",
      ]);
    } finally {
      await serving.close();
    }
  },
);

test("a server with every feature passes all scenarios on the same transport", async () => {
  const fixture = await serveFixture();
  try {
    const { code, passed, text } = await conformance(fixture.url, "fixture.yml");
    expect(code, text).toBe(0);
    expect(passed).toHaveLength(30);
  } finally {
    fixture.close();
  }
});
