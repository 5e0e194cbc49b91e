/** A refusal that a turn ends with leaves no way that the server names and the menu offers. */
import { expect, test } from "vitest";
import { listOfferedItems } from "../../../src/trajectory/task.ts";
import { startsTurn } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks } from "../synthesizeTasks.ts";

test("no change that the last refusal of a turn names is on the menu", async () => {
  const { tasks } = await readSharedTasks("realistic");
  let refusals = 0;
  const ways = tasks.flatMap(task => {
    const { events } = task.trajectory;
    return events.flatMap((event, i) => {
      if (event.kind !== "call" || event.outcome.kind !== "refused") return [];
      const next = events.slice(i + 1).find(it => it.kind === "call" || startsTurn(it));
      if (next?.kind === "call") return [];
      refusals++;
      const hint = event.outcome.hint ?? "";
      return listOfferedItems(task).filter(
        ({ name }) => catalog.tools.get(name)?.effect === "write" && hint.includes(name),
      );
    });
  });
  expect(refusals).toBeGreaterThan(5);
  expect(ways).toEqual([]);
});
