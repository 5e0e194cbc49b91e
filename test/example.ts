/**
 * Remakes resources/example, the workspace to try the extension on: `node test/example.ts`. A few
 * tasks on each server, and one attempt that goes wrong in several ways, so that there is something
 * to see in a debugger and on a reward page.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../src/environment/catalog.ts";
import type { AssistantMessage } from "../src/policy/policy.ts";
import { rollout } from "../src/policy/rollout.ts";
import { createScriptedPolicy, listMessages } from "../src/policy/scripted.ts";
import { loadServers } from "../src/servers/catalog.ts";
import { synthesize } from "../src/synthesis/pipeline/run/synthesize.ts";
import { listCalls, formatTrajectory } from "../src/trajectory/trajectory.ts";
import { type Task, formatTaskLine } from "../src/trajectory/task.ts";

const servers = await loadServers();

const root = join(import.meta.dirname, "..");
const resources = join(root, "resources");
const catalog = openCatalog(servers, [join(resources, "servers")]);
const example = join(resources, "example", "prove");
const folder = join(example, "tasks");

/** Tasks a server. */
const wanted = 2;

async function tasksOn(server: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const it of synthesize({
    catalog,
    resources,
    seed: 11,
    servers: [server],
    menu: "chain",
    preset: "student",
  })) {
    // a mixed handful: not one shape of chain twice
    if (
      it.kind === "accepted" &&
      it.task.kind === "normal" &&
      !tasks.some(known => String(known.chain) === String(it.task.chain))
    )
      tasks.push(it.task);
    if (tasks.length === wanted) break;
  }
  return tasks;
}

/**
 * Gets a name wrong, leaves the arguments out, does what the goals ask with other numbers and says
 * these, and leaves the last thing undone.
 */
function stumbling({ goals, turns, trajectory }: Task): AssistantMessage[] {
  const calls = goals.flatMap(it =>
    it.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
  );
  const first = calls[0]!;
  const off = calls.map(it => ({
    ...it,
    arguments: Object.fromEntries(
      Object.entries(it.arguments).map(([key, value]) => [
        key,
        typeof value === "number" ? value + 10 : value,
      ]),
    ),
  }));
  const numbers = new Set(calls.flatMap(it => Object.values(it.arguments)));
  const say = (text: string) =>
    text.replaceAll(/\d+/g, it => (numbers.has(Number(it)) ? String(Number(it) + 10) : it));
  const answers = listMessages(trajectory.events).filter(it => it.calls.length === 0);
  return [
    { text: "", calls: [{ ...first, name: `${first.name}s` }] },
    { text: "", calls: [{ ...off.at(-2)!, arguments: {} }] },
    ...off.slice(0, -1).map(it => ({ text: "", calls: [it] })),
    ...turns.map((_, i) => ({ text: say(answers[i]?.text ?? "Done."), calls: [] })),
  ];
}

const tasks = (await Promise.all(servers.map(it => tasksOn(it.name)))).flat();
const isNumeric = (goal: Task["goals"][number]) =>
  goal.calls.some(it => Object.values(it.arguments).some(value => typeof value === "number"));
const stumbled = tasks.find(it => it.goals.length >= 4 && it.goals.slice(0, -1).some(isNumeric))!;
const attempt = (
  await rollout(stumbled, createScriptedPolicy("beginner", stumbling(stumbled)), catalog, {
    id: `${stumbled.id}/beginner`,
  })
).trajectory;
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, "example.tasks.jsonl"),
  tasks.map(it => `${formatTaskLine(it)}\n`).join(""),
);
writeFileSync(join(folder, "beginner.trajectory.jsonl"), formatTrajectory(attempt));

/**
 * Two tasks on the fixture of the workspace that are what they are by its edits: a payment that is
 * refused at first, because the account has too little money, and one with a new payee. Both are
 * held out, for trying a student on them.
 */
async function createFixtureTasks(): Promise<Task[]> {
  const wantedTexts = [/insufficient funds/, /Orchard Bikes/];
  const found: Task[] = [];
  for await (const it of synthesize({
    catalog: openCatalog(
      servers.filter(server => server.name === "banking"),
      [join(example, "fixtures")],
    ),
    resources,
    seed: 3,
    servers: ["banking"],
    menu: "chain",
    variantsPerFixture: 0,
  })) {
    if (it.kind !== "accepted" || it.task.kind !== "normal" || it.task.split === "train") continue;
    const { turns, trajectory } = it.task;
    const texts = [
      ...turns.map(turn => turn.user),
      ...listCalls(trajectory).map(call => JSON.stringify(call.outcome)),
    ];
    if (!texts.some(text => wantedTexts[found.length]!.test(text))) continue;
    if (found.push(it.task) === wantedTexts.length) break;
  }
  return found;
}

writeFileSync(
  join(folder, "before-payday.tasks.jsonl"),
  (await createFixtureTasks()).map(it => `${formatTaskLine(it)}\n`).join(""),
);
