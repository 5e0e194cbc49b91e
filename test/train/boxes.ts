/**
 * A server that a student learns within seconds: boxes with names, which are found and then opened,
 * with its tasks and a tokenizer and sizes of a model for them.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { computeDigest } from "../../src/environment/digest.ts";
import { openCatalog, type Catalog } from "../../src/environment/catalog.ts";
import { id, label } from "../../src/environment/fieldSchemas.ts";
import {
  defineServer,
  findEntity,
  refuse,
  createToolFactory,
} from "../../src/environment/server.ts";
import { studentLimits } from "../../src/model/student/compactChat.ts";
import type { Architecture } from "../../src/model/transformer/architecture.ts";
import { trainTokenizer, type Tokenizer } from "../../src/model/student/tokenizer.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { taskFormat, type Task } from "../../src/trajectory/task.ts";

const World = z.strictObject({
  boxes: z.record(z.string(), z.strictObject({ name: z.string(), isOpen: z.boolean() })),
});
const tool = createToolFactory(World);

export const boxes = defineServer({
  name: "box",
  category: "Test",
  summary: "boxes",
  schema: World,
  tools: {
    find: tool({
      effect: "read",
      summary: "Find a box by its name.",
      input: { name: label("box") },
      returns: { name: label("box"), box_id: id("box") },
      run({ boxes: all }, { name }) {
        const entry = Object.entries(all).find(([, it]) => it.name === name);
        return entry ? { name, box_id: entry[0] } : refuse("not_found", `there is no box ${name}`);
      },
    }),
    open: tool({
      effect: "write",
      summary: "Open a box.",
      input: { box_id: id("box") },
      returns: { box_id: id("box") },
      run({ boxes: all }, { box_id }) {
        findEntity(all, box_id, "box").isOpen = true;
        return { box_id };
      },
    }),
    count: tool({
      effect: "read",
      summary: "Count the boxes.",
      input: {},
      returns: { count: z.int() },
      run: ({ boxes: all }) => ({ count: Object.keys(all).length }),
    }),
  },
});

const colors = ["red", "blue", "green"];

/** A catalog with the server, or with one that replaces it. */
export function createBoxCatalog(server = boxes): Catalog {
  const folder = mkdtempSync(join(tmpdir(), "prove-boxes-"));
  mkdirSync(join(folder, "box"));
  const state = {
    boxes: Object.fromEntries(
      colors.map((name, i) => [`box_${11 + 7 * i}`, { name, isOpen: false }]),
    ),
  };
  writeFileSync(
    join(folder, "box", "full.fixture.json"),
    JSON.stringify({
      format: "prove/fixture@1",
      server: "box",
      name: "full",
      now: "2026-03-02T09:00",
      state,
    }),
  );
  return openCatalog([server], [folder]);
}

/** One task for each color and phrasing, with the trajectory of the teacher. */
export async function createBoxTasks(catalog: Catalog): Promise<Task[]> {
  const phrasings = ["Open the * box.", "Please open the * box", "I want the * box open."];
  const tasks: Task[] = [];
  for (const [i, color] of colors.entries())
    for (const [j, phrasing] of phrasings.entries())
      tasks.push(
        await createBoxTask(catalog, {
          id: `box-${i}-${j}`,
          user: phrasing.replace("*", color),
          color,
          boxId: `box_${11 + 7 * i}`,
        }),
      );
  return tasks;
}

async function createBoxTask(
  catalog: Catalog,
  { id: taskId, user, color, boxId }: { id: string; user: string; color: string; boxId: string },
): Promise<Task> {
  const find = { name: "box_find", arguments: { name: color } };
  const open = { name: "box_open", arguments: { box_id: boxId } };
  const servers = [
    { name: "box", fixture: "full", digest: computeDigest(catalog.getFixture("box", "full")) },
  ];
  const task = {
    format: taskFormat,
    id: taskId,
    servers,
    catalog: catalog.hashTools(["box"]),
    seed: 1,
    split: "train",
    kind: "normal",
    persona: "plain",
    now: "2026-03-02T09:00",
    menu: ["box_count", "box_find", "box_open"].map(name => ({ name })),
    hidden: [],
    turns: [{ user, goals: [0, 1], reply: "Done." }],
    goals: [
      { calls: [find], after: [], turn: 0 },
      { calls: [open], after: [{ goal: 0, kind: "explicit", via: "box_id" }], turn: 0 },
    ],
    knobs: {},
    info: "complete",
    chain: ["box_find", "box_open"],
    budget: { calls: 3, assistantMessages: 5 },
    provenance: { teacher: "scripted", graph: "", log: [] },
  } satisfies Omit<Task, "trajectory">;
  const messages: AssistantMessage[] = [
    { text: "", calls: [find] },
    { text: "", calls: [open] },
    { text: "Done.", calls: [] },
  ];
  return {
    ...task,
    trajectory: (
      await rollout(task as unknown as Task, createScriptedPolicy("teacher", messages), catalog)
    ).trajectory,
  };
}

export function createBoxTokenizer(tasks: readonly Task[]): Tokenizer {
  const texts = tasks.flatMap(it => [` ${it.turns[0]!.user}`, " Done."]);
  return trainTokenizer(
    [...texts, ...texts, ...colors.flatMap(it => [` ${it} box_1`, ` ${it} box_1`])],
    [...boxes.tools.keys()],
    ["name", "box_id"],
    600,
  );
}

export const getBoxArchitecture = (vocabulary: number): Architecture => ({
  vocabulary,
  width: 64,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headWidth: 32,
  hidden: 128,
  context: studentLimits.context,
  ropeBase: 10_000,
});
