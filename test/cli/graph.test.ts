/** `graph` with labels of a model behind a real endpoint, and on connected servers. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { graph } from "../../src/cli/graph.ts";
import { root } from "../contracts/transports.ts";
import { chatServer, says } from "../policy/chatServer.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "prove-graph-"));
  mkdirSync(join(cwd, "prove"));
  mkdirSync(join(cwd, "seed"));
  for (const it of ["memory.jsonl", "seed/play.jsonl"])
    writeFileSync(
      join(cwd, it),
      `${JSON.stringify({ type: "entity", name: "Ana", entityType: "person", observations: ["likes maps"] })}\n`,
    );
  const entry = {
    command: process.execPath,
    args: [join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
    env: { MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
  };
  writeFileSync(
    join(cwd, "prove/mcp.json"),
    JSON.stringify({
      servers: {
        memory: entry,
        "io.example/../notes": entry,
        disposable: { ...entry, disposable: true },
        play: {
          ...entry,
          env: { MEMORY_FILE_PATH: "${sandbox}/play.jsonl" },
          reset: { folder: "seed" },
        },
      },
    }),
  );
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface ServerGraph {
  readonly by: string;
  readonly edges: readonly {
    readonly a: string;
    readonly b: string;
    readonly verified: string;
    readonly why?: string;
  }[];
}

const isRemoval = ({ a, b }: { readonly a: string; readonly b: string }) =>
  a === "read_graph" && b === "delete_entities";

interface LabelRequest {
  readonly pairs: readonly {
    readonly pair: number;
    readonly first: string;
    readonly second: string;
  }[];
}

/** Labels one pair of tools as an edge, and all others as none. */
const labelOneEdge = (
  content: string,
  a: string,
  b: string,
  via: { output: string; input: string },
) =>
  JSON.stringify({
    labels: (JSON.parse(content) as LabelRequest).pairs.map(({ pair, first, second }) => {
      const isIt = [first, second].includes(a) && [first, second].includes(b);
      return {
        pair,
        label: isIt ? "explicit" : "none",
        before: first === a ? "first" : "second",
        ...(isIt ? via : { output: "", input: "" }),
        confidence: 0.8,
        rationale: "",
      };
    }),
  });

test("a model labels all 45 pairs of ten tools in three requests, is compared with the declarations, and is not asked again", async () => {
  const { url, asked } = await chatServer(({ body }) =>
    says(
      labelOneEdge(
        body.messages[1]!.content,
        "video_meeting_list_meetings",
        "video_meeting_end_meeting",
        { output: "meetings[].meeting_id", input: "meeting_id" },
      ),
    ),
  );
  const args = ["video_meeting", "--by", "model", "--model", "reader-1", "--base-url", url];
  const { code, out } = await runCommand(graph, args, { cwd });
  expect([code, asked.length]).toEqual([0, 3]);
  expect(out.slice(0, 2)).toEqual([
    "video_meeting: 1 edges by model",
    "  video_meeting_list_meetings -> video_meeting_end_meeting  explicit  meetings[].meeting_id -> meeting_id  0.8",
  ]);
  expect(out[2]).toMatch(
    /explicit, against the declarations: precision 1 \(1 of 1\), recall 0\.0\d+ \(1 of \d+\)/,
  );
  expect(asked[0]!.body).toHaveProperty("response_format");
  expect((await runCommand(graph, args, { cwd })).out).toEqual(out);
  expect(asked).toHaveLength(3);
  expect(
    readFileSync(join(cwd, "prove/graphs/video_meeting.labels.jsonl"), "utf8").trim().split("\n"),
  ).toHaveLength(45);
});

test("a labelled edge is run like a declared one", async () => {
  const { url } = await chatServer(({ body }) =>
    says(
      labelOneEdge(
        body.messages[1]!.content,
        "video_meeting_end_meeting",
        "video_meeting_start_meeting",
        { output: "meeting_id", input: "meeting_id" },
      ),
    ),
  );
  const { out } = await runCommand(
    graph,
    ["video_meeting", "--by", "model", "--model", "guesser", "--base-url", url, "--verify"],
    { cwd },
  );
  expect(out[0]).toBe("video_meeting: 1 edges by model, run: 0 work, 1 fail, 0 untried");
});

test("an endpoint that is not running is reported", async () => {
  const { url, close } = await chatServer(() => undefined);
  await close();
  await expect(
    runCommand(graph, ["budget", "--by", "model", "--model", "m", "--base-url", url], { cwd }),
  ).rejects.toThrow(/nobody answers at/);
});

test("a connected server is labelled by names, and a write that its entry does not allow is not run", async () => {
  const { out } = await runCommand(graph, ["--connect", "memory", "--verify", "--json"], { cwd });
  const [serverGraph] = JSON.parse(out.join("\n")) as ServerGraph[];
  expect(serverGraph!.by).toBe("names");
  expect(serverGraph!.edges.find(isRemoval)).toMatchObject({
    via: { output: "entities[].name", input: "entityNames" },
    verified: "untried",
    why: expect.stringContaining("has no reset") as string,
  });
  expect(readFileSync(join(cwd, "memory.jsonl"), "utf8").trim().split("\n")).toHaveLength(1);
});

test.each(["memory", "disposable"])(
  "consent to %s is no consent to try its writes on data of the person",
  async name => {
    const { out, notes } = await runCommand(
      graph,
      ["--connect", name, "--trust-server", "--verify", "--json"],
      { cwd },
    );
    expect((JSON.parse(out.join("\n")) as ServerGraph[])[0]!.edges.find(isRemoval)).toMatchObject({
      verified: "untried",
      why: `delete_entities is not marked as read-only, and ${name} has no reset`,
    });
    const plan = notes.find(it => it.startsWith("--verify"))!;
    expect(plan).toMatch(/not called, because they are not marked as read-only: .*delete_entities/);
    expect(plan).toContain(`add a reset to entry ${name} of prove/mcp.json`);
    expect(readFileSync(join(cwd, "memory.jsonl"), "utf8").trim().split("\n")).toHaveLength(1);
  },
);

test("the calls are listed before they are made, and a person can refuse those that write", async () => {
  const shown: string[] = [];
  const stored = () => readFileSync(join(cwd, "seed/play.jsonl"), "utf8");
  const before = stored();
  const asked: string[] = [];
  const { out } = await runCommand(graph, ["--connect", "play", "--verify", "--json"], {
    cwd,
    printNote: line => void shown.push(line),
    async confirm(question) {
      asked.push(question);
      if (asked.length === 1) return true;
      // all that is about to be called is on the screen, and nothing is written yet
      expect(shown.at(-1)).toMatch(/^--verify calls these tools of play \(.*server-memory/);
      expect(shown.at(-1)).toContain(
        'delete_entities, which may change what it can reach, for example with {"entityNames":["Ana"]}',
      );
      expect(stored()).toBe(before);
      return false;
    },
  });
  expect(shown).toContainEqual(
    expect.stringMatching(/^graph calls these read-only tools of play \(.*\): read_graph$/),
  );
  expect(asked).toHaveLength(2);
  expect((JSON.parse(out.join("\n")) as ServerGraph[])[0]!.edges.find(isRemoval)).toMatchObject({
    verified: "untried",
    why: "delete_entities writes, which you did not allow",
  });
  expect(stored()).toBe(before);
});

test("on a copy, the write is run with the result of the read", async () => {
  const before = readFileSync(join(cwd, "seed/play.jsonl"), "utf8");
  const { out } = await runCommand(
    graph,
    ["--connect", "play", "--trust-server", "--verify", "--json"],
    { cwd },
  );
  expect((JSON.parse(out.join("\n")) as ServerGraph[])[0]!.edges.find(isRemoval)).toMatchObject({
    verified: "works",
  });
  expect(readFileSync(join(cwd, "seed/play.jsonl"), "utf8")).toBe(before);
});

test("the labels of a server with a slash in its name are stored in one folder with the others", async () => {
  const { url, asked } = await chatServer(({ body }) =>
    says(
      labelOneEdge(body.messages[1]!.content, "read_graph", "open_nodes", {
        output: "entities[].name",
        input: "names",
      }),
    ),
  );
  const args = ["--by", "model", "--model", "m", "--base-url", url];
  for (const _ of ["first", "stored"]) {
    const { out } = await runCommand(graph, ["--connect", "io.example/../notes", ...args], { cwd });
    expect(out[0]).toBe("io.example/../notes: 1 edges by model");
  }
  expect(asked).toHaveLength(2);
  expect(readdirSync(join(cwd, "prove/graphs"))).toContainEqual(
    expect.stringMatching(/^io\.example-\.\.-notes-[0-9a-f]{12}\.labels\.jsonl$/),
  );
});

test("options that do not fit together are refused", async () => {
  const run = (...args: string[]) => runCommand(graph, args, { cwd });
  await expect(run("budget", "--by", "hearsay")).rejects.toThrow("nobody labels by hearsay");
  await expect(run("budget", "--by", "model")).rejects.toThrow(
    "--by model needs to know which model labels",
  );
  await expect(run("--connect", "memory", "--by", "declared")).rejects.toThrow(
    "a connected server declares no entities",
  );
  await expect(run("budget", "--out", "x.jsonl")).rejects.toThrow(
    "--out keeps what a run has shown, and nothing was run",
  );
});
