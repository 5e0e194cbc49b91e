/** Tasks on a server whose ids are numbers: what is looked up, said and judged. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { audit } from "../../src/cli/audit.ts";
import { connect } from "../../src/cli/connect.ts";
import { replay } from "../../src/cli/replay.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import type { AuditSummary } from "../../src/evaluation/audit.ts";
import type { ServerFile } from "../../src/mcp/connected/serverFile.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { runCommand } from "../cli/terminal.ts";
import { root } from "../contracts/transports.ts";
import { createNotesWorkspace, type NotesWorkspace } from "./notesWorkspace.ts";

const titles = [
  "Login fails on Safari",
  "Slow search",
  "Broken footer link",
  "Typo on the start page",
  "Export as CSV",
  "Dark mode",
  "Crash on empty cart",
];
const projects = ["Shop", "Blog", "Intranet"];
const file = "issues.tasks.jsonl";
let workspace: NotesWorkspace;
let server: ServerFile;
let tasks: readonly Task[];

beforeAll(async () => {
  workspace = createNotesWorkspace("", {
    args: [join(root, "test/mcp/issuesServer.ts"), "${sandbox}"],
    reset: { folder: "issues" },
  });
  const cwd = workspace.folder;
  mkdirSync(join(cwd, "issues"));
  const name = (it: string, i: number) => ({ id: i + 1, name: it });
  writeFileSync(
    join(cwd, "issues/issues.json"),
    JSON.stringify({
      issues: titles.map((title, i) => ({
        number: i + 1,
        title,
        project_id: (i % 3) + 1,
        priority: (i % 5) + 1,
        is_open: true,
      })),
      projects: projects.map(name),
      labels: ["bug", "docs", "help-wanted"],
      people: ["Dana Fox", "Lee Park", "Ana Ruiz", "Bo Lind"].map(name),
    }),
  );
  await runCommand(connect, ["notes", "--as", "tracker", "--trust-server"], { cwd });
  const written = readFileSync(join(cwd, "prove/servers/tracker.server.json"), "utf8");
  server = JSON.parse(written) as ServerFile;
  const catalog = await workspace.openCatalog();
  const args = ["--servers", "tracker", "--count", "6", "--out", file];
  await runCommand(synthesize, args, { cwd, catalog });
  const lines = readFileSync(join(cwd, file), "utf8").trim().split("\n");
  tasks = lines.map(it => JSON.parse(it) as Task);
});
afterAll(() => workspace.remove());

test("numbers are ids where their names or words say of what, and counts and limits are not", () => {
  const listThings = (schema: JsonObject): readonly string[] =>
    [...JSON.stringify(schema).matchAll(/"(\w+)":\{"[^{}]*"x-entity":"(\w+)"/g)].map(
      ([, key, thing]) => `${key}: ${thing}`,
    );
  const getArguments = (tool: string) => listThings(server.tools[`tracker_${tool}`]!.inputSchema);
  expect(getArguments("get_issue")).toEqual(["issue_number: issue"]);
  expect(getArguments("get_project")).toEqual(["id: project"]);
  expect(getArguments("move_issue")).toEqual(["issue_number: issue", "project_id: project"]);
  expect(getArguments("set_priority")).toEqual(["issue_number: issue"]);
  expect(getArguments("list_issues")).toEqual([]);
  const getResults = (tool: string) => listThings(server.tools[`tracker_${tool}`]!.outputSchema);
  expect(getResults("list_issues")).toEqual(["number: issue", "project_id: project"]);
  expect(getResults("list_people")).toEqual([]);
  // what it makes is one, too
  expect(getResults("add_issue")).toEqual(["number: issue"]);
});

test("values that must be right together are found from their descriptions", () => {
  expect(server.tools["tracker_convert_time"]).toMatchObject({
    because: "a call changed nothing that was observed",
    inputSchema: {
      properties: {
        from_zone: { examples: ["Europe/Berlin", "Asia/Tokyo"] },
        time: { examples: ["10:30", "15:00", "09:45"] },
        to_zone: { examples: ["America/Lima", "Asia/Tokyo"] },
      },
    },
  });
});

test("what a tool makes is new, and what another one reads is there", () => {
  const getLabel = (tool: string) => server.tools[`tracker_${tool}`]!.inputSchema["properties"];
  expect(getLabel("get_label")).toMatchObject({ label: { "x-entity": "label" } });
  expect(getLabel("create_label")).toEqual({
    label: {
      type: "string",
      examples: ["winter-plans", "team-lunch", "garden-ideas", "reading-list", "packing-list"],
    },
  });
});

test("users say names, the assistant looks them up, and calls carry the numbers", async () => {
  const calls = tasks.flatMap(it => it.goals.flatMap(goal => goal.calls));
  const said = tasks.flatMap(it => it.turns.map(turn => turn.user)).join("\n");
  expect(titles.some(it => said.includes(it))).toBe(true);
  expect(said).not.toMatch(/issue \d|number \d|project \d/);
  const writes = calls.filter(it => typeof it.arguments["issue_number"] === "number");
  expect(writes.length).toBeGreaterThan(2);
  const lookUps = calls.filter(it => it.for === "feeds");
  expect(lookUps.flatMap(it => it.values ?? []).every(it => typeof it === "number")).toBe(true);
  expect(new Set(lookUps.map(it => it.name))).toContain("tracker_list_issues");
  // the same number is the id of another thing, too
  const owners = calls.flatMap(it => it.facts?.flatMap(fact => fact.entity ?? []) ?? []);
  expect(owners.length).toBeGreaterThan(0);
  expect(owners.filter(it => /^\d+$/.test(it))).toEqual([]);
  // a project is found where its name is, and not where an issue refers to it
  for (const task of tasks)
    if (task.turns.some(it => projects.some(name => it.user.includes(`project "${name}"`))))
      expect(JSON.stringify(task.trajectory.events)).toContain("tracker_list_projects");
  const { notes } = await runCommand(replay, [file], {
    cwd: workspace.folder,
    catalog: await workspace.openCatalog(),
  });
  expect(notes.at(-1)).toMatch(/^6 attempts, \d+ calls: all the same$/);
});

test("who looks up succeeds, and wrong numbers and guesses fail", async () => {
  const { out } = await runCommand(audit, [file, "--json"], {
    cwd: workspace.folder,
    catalog: await workspace.openCatalog(),
  });
  const { solvers } = JSON.parse(out.join("\n")) as AuditSummary;
  const find = (name: string) => solvers.find(it => it.solver === name);
  const right = solvers.filter(it => it.kind === "right" && it.tasks > 0);
  expect(right.filter(it => it.success < 1).map(it => it.solver)).toEqual([]);
  expect(right.length).toBeGreaterThan(5);
  expect(find("guesser")).toMatchObject({ success: 0 });
  expect(find("one-wrong-value")).toMatchObject({ success: 0 });
});
