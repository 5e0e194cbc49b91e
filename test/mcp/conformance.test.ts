/**
 * The official conformance suite for the revisions 2025-11-25 and 2026-07-28 of the protocol, run
 * against our servers, against a fixture server on the same transport for features that they do not
 * use, and with our client. An expected failure that passes is a failure.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startHttpServer } from "../../src/service/httpServer.ts";
import { emptyFolder } from "../cli/program.ts";
import { catalog, root } from "../contracts/transports.ts";
import { serveFixture } from "./fixtureServer.ts";

interface Conformance {
  readonly code: number | null;
  /** The scenarios with at least one check that passed and none that failed. */
  readonly passed: string[];
  readonly text: string;
}

function runSuite(...args: readonly string[]): Promise<Conformance> {
  const program = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
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

const testServer = (url: string, revision: string, expectedFailures: string) =>
  runSuite(
    "server",
    "--url",
    url,
    "--suite",
    "all",
    "--spec-version",
    revision,
    "--expected-failures",
    join(import.meta.dirname, "conformance", expectedFailures),
  );

const withHandshake = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "resources-list",
  "dns-rebinding-protection",
];

const withoutHandshake = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "server-sse-multiple-streams",
  "resources-list",
  "sep-2164-resource-not-found",
  "dns-rebinding-protection",
  "http-header-validation",
  // two of these only warn that a tool of the suite's own is missing
  "input-required-result-missing-input-response",
  "input-required-result-unsupported-methods",
  "input-required-result-ignore-extra-params",
  "input-required-result-validate-input",
];

test.each([
  ["banking", "2025-11-25", "domain.yml", withHandshake],
  ["filesystem", "2025-11-25", "domain.yml", withHandshake],
  ["banking", "2026-07-28", "domain-2026.yml", withoutHandshake],
])(
  "%s passes the scenarios of %s that apply to a domain server",
  async (name, revision, file, scenarios) => {
    const serving = await startHttpServer({ catalog });
    try {
      const { id } = serving.sessions.open({
        owner: "conformance",
        servers: [{ name, fixture: "small" }],
        seed: 1,
      });
      const url = `${serving.url}${serving.mcpPath(id, name)}`;
      const { code, passed, text } = await testServer(url, revision, file);
      expect(code, text).toBe(0);
      expect(passed).toEqual(scenarios);
      if (revision === "2026-07-28") {
        // all but what concerns a tool of the suite's own, and prompts
        expect(text).toContain("server-stateless: 26 passed, 2 failed");
        expect(text).toContain("caching: 7 passed, 1 failed");
      }
    } finally {
      await serving.close();
    }
  },
);

test("a server with every feature passes all scenarios on the same transport", async () => {
  const fixture = await serveFixture();
  try {
    const { code, passed, text } = await testServer(fixture.url, "2025-11-25", "fixture.yml");
    expect(code, text).toBe(0);
    expect(passed).toHaveLength(30);
  } finally {
    fixture.close();
  }
});

describe("our client", () => {
  test.each([
    ["initialize", "2025-11-25"],
    ["tools_call", "2025-11-25"],
    ["sse-retry", "2025-11-25"],
    ["tools_call", "2026-07-28"],
    ["request-metadata", "2026-07-28"],
    ["http-standard-headers", "2026-07-28"],
    ["http-custom-headers", "2026-07-28"],
    ["http-invalid-tool-headers", "2026-07-28"],
    ["json-schema-ref-no-deref", "2026-07-28"],
  ])("passes %s of %s", async (scenario, revision) => {
    const program = `"${process.execPath}" "${join(import.meta.dirname, "conformanceClient.ts")}"`;
    const args = ["--command", program, "--scenario", scenario, "--spec-version", revision];
    const { code, text } = await runSuite("client", ...args);
    expect(code, text).toBe(0);
    expect(text).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  });
});
