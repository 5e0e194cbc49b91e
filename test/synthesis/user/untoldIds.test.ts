/** Users cannot know the id of what a call has made until somebody tells them. */
import { expect, test } from "vitest";
import { listScalars } from "../../../src/trajectory/valueMatching.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

/** The keys of issues that a turn says although only a call of the same turn makes the issue. */
function listGuessedKeys({ id, servers, trajectory }: Task): string[] {
  const existing = JSON.stringify(servers.map(it => catalog.getFixture(it.name, it.fixture).state));
  const guessed: string[] = [];
  let [said, told] = ["", existing];
  for (const event of trajectory.events) {
    if (event.kind === "user") said = event.text;
    else if (event.kind === "assistant") told += `\n${event.text}`;
    else if (event.kind === "call" && event.outcome.kind === "ok")
      guessed.push(
        ...[...listScalars(event.outcome.value)]
          .map(String)
          .filter(it => /^[A-Z]{2,5}-\d+$/.test(it) && said.includes(it) && !told.includes(it)),
      );
  }
  return guessed.map(it => `${id} ${it}`);
}

test("users do not say the key of an issue before they can know it", async () => {
  const { tasks } = await synthesizeTasks(100, { servers: ["issue_tracker"], preset: "paper" });
  const made = tasks.filter(it => it.chain.some(name => /_create_(issue|subtask)$/.test(name)));
  expect(made.length).toBeGreaterThan(10);
  expect(tasks.flatMap(listGuessedKeys)).toEqual([]);
});
