/** Tasks with arguments that are lists of objects, which refer to entities and say new texts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openCatalog, type Catalog } from "../../../src/environment/catalog.ts";
import { id, label } from "../../../src/environment/fieldSchemas.ts";
import { fixtureFormat } from "../../../src/environment/fixture.ts";
import { createToolFactory, defineServer, findEntity } from "../../../src/environment/server.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const Garden = z.strictObject({
  plants: z.record(z.string(), z.strictObject({ name: z.string(), notes: z.array(z.string()) })),
  feedings: z.array(z.strictObject({ plant_id: z.string(), food: z.string() })),
});

const tool = createToolFactory(Garden);
const text = (...examples: string[]) => z.string().min(1).meta({ examples });
const feedings = z.array(z.object({ plant_id: id("plant"), food: text("nettle tea", "compost") }));

const garden = defineServer({
  name: "garden",
  category: "Test",
  summary: "plants and what they are fed",
  schema: Garden,
  tools: {
    list_plants: tool({
      effect: "read",
      summary: "List the plants.",
      input: {},
      returns: { plants: z.array(z.object({ plant_id: id("plant"), name: label("plant") })) },
      run: ({ plants }) => ({
        plants: Object.entries(plants).map(([plant_id, { name }]) => ({ plant_id, name })),
      }),
    }),
    list_feedings: tool({
      effect: "read",
      summary: "List the feedings.",
      input: {},
      returns: { feedings: z.array(z.object({ plant_id: id("plant"), food: z.string() })) },
      run: world => ({ feedings: world.feedings.map(it => ({ ...it })) }),
    }),
    add_notes: tool({
      effect: "write",
      summary: "Add notes to plants.",
      input: {
        notes: z.array(
          z.object({
            plant_id: id("plant"),
            contents: z.array(text("grows well", "needs a stake", "was moved indoors")),
          }),
        ),
      },
      returns: { added: z.int() },
      run({ plants }, { notes }) {
        for (const it of notes) findEntity(plants, it.plant_id, "plant").notes.push(...it.contents);
        return { added: notes.length };
      },
    }),
    plan_feedings: tool({
      effect: "write",
      summary: "Plan feedings.",
      input: { feedings },
      returns: { planned: z.int() },
      run(world, args) {
        for (const it of args.feedings) findEntity(world.plants, it.plant_id, "plant");
        world.feedings.push(...args.feedings);
        return { planned: args.feedings.length };
      },
    }),
    cancel_feedings: tool({
      effect: "write",
      destructive: true,
      summary: "Cancel feedings.",
      input: { feedings },
      returns: { left: z.int() },
      run(world, args) {
        const isCancelled = (own: { plant_id: string; food: string }) =>
          args.feedings.some(it => it.plant_id === own.plant_id && it.food === own.food);
        world.feedings = world.feedings.filter(it => !isCancelled(it));
        return { left: world.feedings.length };
      },
    }),
  },
});

const names = ["Fern", "Basil", "Lemon tree", "Aloe", "Ivy"];
const state = {
  plants: Object.fromEntries(names.map((name, i) => [`plant_${i + 1}`, { name, notes: [] }])),
  feedings: [
    { plant_id: "plant_2", food: "compost" },
    { plant_id: "plant_4", food: "nettle tea" },
    { plant_id: "plant_5", food: "bone meal" },
  ],
};

let folder: string;
let catalog: Catalog;
let tasks: readonly Task[];

/** The plants of a fixture, whose ids differ from world to world. */
const getPlants = (name: string) =>
  (catalog.getFixture("garden", name).state as typeof state).plants;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "prove-garden-"));
  mkdirSync(join(folder, "garden"));
  writeFileSync(
    join(folder, "garden/small.fixture.json"),
    JSON.stringify({
      format: fixtureFormat,
      server: "garden",
      name: "small",
      now: "2026-03-09T09:00",
      state,
    }),
  );
  catalog = openCatalog([garden], [folder]);
  const made = await synthesizeTasks(30, { catalog, servers: ["garden"], seed: 7, worlds: 0 });
  tasks = made.tasks;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The objects that tasks give to a tool, with the plant and what the user has said until then. */
const listGiven = (name: string, key: string) =>
  tasks.flatMap(({ servers, goals, turns }) =>
    goals.flatMap(({ calls, turn }) =>
      calls
        .filter(it => it.name === `garden_${name}`)
        .flatMap(it =>
          (it.arguments[key] as { plant_id: string; food?: string; contents?: string[] }[]).map(
            row => ({
              ...row,
              plant: getPlants(servers[0]!.fixture)[row.plant_id]!.name,
              said: turns.slice(0, turn + 1).map(of => of.user),
            }),
          ),
        ),
    ),
  );

test("the user names what objects refer to, says their texts, and says no id", () => {
  const notes = listGiven("add_notes", "notes");
  expect(notes.length).toBeGreaterThan(3);
  for (const { plant, contents, said } of notes) {
    // or by its place in a list that was shown
    if (!/\bthe (first|second|third|last) one\b/.test(said.at(-1)!))
      expect(said.join("\n")).toContain(plant);
    expect(said.at(-1)).toContain(contents![0]);
  }
  expect(tasks.flatMap(it => it.turns.map(turn => turn.user)).join("\n")).not.toMatch(/plant_\d/);
});

test("lists have one object or several, each about another thing", () => {
  const lists = tasks
    .flatMap(it => it.goals.flatMap(goal => goal.calls))
    .filter(it => it.name === "garden_add_notes" || it.name === "garden_plan_feedings")
    .map(it => Object.values(it.arguments)[0] as { plant_id: string }[]);
  expect(lists.some(it => it.length === 1)).toBe(true);
  expect(lists.some(it => it.length > 1)).toBe(true);
  for (const it of lists) expect(new Set(it.map(row => row.plant_id)).size).toBe(it.length);
});

test("what is removed is there, although nothing declares which values belong together", () => {
  const cancelled = listGiven("cancel_feedings", "feedings");
  expect(cancelled.length).toBeGreaterThan(1);
  expect(cancelled.some(it => it.food === "bone meal")).toBe(true);
});
