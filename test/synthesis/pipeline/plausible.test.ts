/** Nobody asks for what makes no sense, and replies do not hide what matters. */
import { beforeAll, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { resources, synthesizeTasks } from "../synthesizeTasks.ts";

let tasks: readonly Task[];
beforeAll(async () => {
  ({ tasks } = await synthesizeTasks(160, {
    servers: ["budget", "food_delivery", "iot_devices", "social_media"],
    seed: 4,
    preset: "paper",
    menu: "realistic",
  }));
});

interface SuccessfulCall {
  readonly task: Task;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly value: Readonly<Record<string, unknown>>;
}

const listSuccessful = (...names: readonly string[]): SuccessfulCall[] =>
  tasks.flatMap(task =>
    listCalls(task.trajectory).flatMap(({ name, arguments: args, outcome }) =>
      outcome.kind === "ok" && names.includes(name)
        ? [{ task, name, args, value: outcome.value } as unknown as SuccessfulCall]
        : [],
    ),
  );

test("an expense is something that its category is for", () => {
  const { arguments: templates } = JSON.parse(
    readFileSync(join(resources, "servers/budget/templates.json"), "utf8"),
  ) as { arguments: { text: { valuesBy: Record<string, string[]> } } };
  const { valuesBy } = templates.text;
  // a scenario has texts of its own
  const expenses = listSuccessful("budget_add_expense").filter(
    ({ task, value }) =>
      String(value["category"]) in valuesBy && task.knobs["scenario"] === undefined,
  );
  expect(expenses.length).toBeGreaterThan(8);
  for (const { task, args, value } of expenses) {
    if (task.goals.some(({ calls }) => calls.some(it => !it.name.startsWith("budget_")))) continue;
    expect(valuesBy[String(value["category"])], task.id).toContain(args["text"]);
  }
});

test("nobody moves an expense to the rent", () => {
  const moved = listSuccessful("budget_update_expense");
  expect(moved.length).toBeGreaterThan(0);
  for (const { task, value } of moved)
    expect(["Rent", "Water and power"], task.id).not.toContain(value["category"]);
});

test("a menu says which dishes are sold out", () => {
  const menus = listSuccessful("food_delivery_get_menu").flatMap(it =>
    (it.value["dishes"] as { dish: string; sold_out?: boolean }[])
      .filter(dish => dish.sold_out)
      .map(({ dish }) => ({ task: it.task, dish })),
  );
  expect(menus.length).toBeGreaterThan(0);
  for (const { task, dish } of menus)
    for (const { reply } of task.turns)
      expect(reply, task.id).not.toMatch(new RegExp(`${dish} for [\\d.]+ euros(?! \\(sold out)`));
});

const opposites = [
  ["iot_devices_open_blinds", "iot_devices_close_blinds"],
  ["iot_devices_turn_on", "iot_devices_turn_off"],
  ["iot_devices_lock_door", "iot_devices_unlock_door"],
  ["social_media_follow_user", "social_media_unfollow_user"],
] as const;
test("nobody undoes what they have asked for, unless they change their mind", () => {
  for (const names of opposites) {
    const calls = listSuccessful(...names);
    expect(calls.length).toBeGreaterThan(0);
    for (const { task, name, args } of calls) {
      if (task.knobs.changesOfMind) continue;
      const key = JSON.stringify(args["device_id"] ?? args["profile_id"]);
      const undone = calls.filter(
        it =>
          it.task === task &&
          it.name !== name &&
          JSON.stringify(it.args["device_id"] ?? it.args["profile_id"]) === key,
      );
      expect(undone.map(it => `${task.id}: ${it.name}`)).toEqual([]);
    }
  }
});

test("nobody likes, shares or comments on their own posts", () => {
  const names = ["like_post", "share_post", "comment_on_post"].map(it => `social_media_${it}`);
  const calls = listSuccessful(...names);
  expect(calls.length).toBeGreaterThan(0);
  for (const { task, args } of calls) {
    const { fixture } = task.servers.find(it => it.name === "social_media")!;
    const { self } = catalog.localize({ self: "Ana Ruiz" }, fixture);
    const row = `"post_id":"${String(args["post_id"])}","author":"${self}"`;
    expect(JSON.stringify(task.trajectory).includes(row), task.id).toBe(false);
  }
});
