/** Who takes away what they have just changed says that they have changed their mind. */
import { expect, test } from "vitest";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const isSaid = (text: string) =>
  /^(actually|wait|sorry|hm|oh|on second thought|no, hold on)\b/i.test(text);

test("an event that has just been changed is not deleted as if nothing had happened", async () => {
  const { tasks } = await synthesizeTasks(240, {
    servers: ["calendar"],
    scenarios: [],
    seed: 6,
    preset: "paper",
  });
  const turns = tasks.flatMap(task =>
    task.turns.slice(1).flatMap(({ user }, i) => {
      const listCalls = (turn: number) =>
        task.goals.filter(it => it.turn === turn).flatMap(it => it.calls);
      const deleted = listCalls(i + 1)[0];
      const before = listCalls(i).at(-1);
      const isWithdrawn =
        deleted?.name === "calendar_delete_event" &&
        /_(add_attendee|remove_attendee|move_event|update_event|set_reminder)$/.test(
          before?.name ?? "",
        ) &&
        deleted.arguments["event_id"] === before!.arguments["event_id"];
      return isWithdrawn && task.knobs.scenario === undefined ? [user] : [];
    }),
  );
  expect(turns.length).toBeGreaterThan(3);
  // one lead in eight is empty
  expect(turns.filter(isSaid).length / turns.length).toBeGreaterThan(0.5);
});
