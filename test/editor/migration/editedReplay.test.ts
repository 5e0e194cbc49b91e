/** Attempts that are repeated in an edited world, and variants of an edited fixture. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { replayOnEdited, startsFrom } from "../../../src/editor/migration/editedReplay.ts";
import { migrateTask } from "../../../src/editor/migration/taskMigration.ts";
import { computeReward } from "../../../src/editor/attempts/attemptReward.ts";
import { openCatalog, openSessionByName, type Catalog } from "../../../src/environment/catalog.ts";
import { defaultProfile } from "../../../src/reward/profiles.ts";
import { catalog, root } from "../../contracts/transports.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";

const task = await moveFifty();
const attempt = {
  task,
  trajectory: task.trajectory,
  reward: computeReward(catalog, task, task.trajectory),
};
const { fixture } = task.servers[0]!;

const folder = mkdtempSync(join(tmpdir(), "prove-edited-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A catalog with an edited copy of the bank's fixture. */
function openEdited(name: string, edit: (text: string) => string): Catalog {
  const fixtures = mkdtempSync(join(folder, "fixtures-"));
  mkdirSync(join(fixtures, "banking"));
  const text = JSON.stringify(catalog.getFixture("banking", name), null, 2);
  expect(edit(text)).not.toBe(text);
  writeFileSync(join(fixtures, `banking/${name}.fixture.json`), edit(text));
  return openCatalog([...catalog.servers.values()], [fixtures, join(root, "resources/servers")]);
}

test("without an effect on the calls, results and reward stay the same", () => {
  const edited = openEdited(fixture, it => it.replace("Ana Ruiz", "Bo Lind"));
  expect(replayOnEdited(edited, attempt, defaultProfile).summary).toMatch(
    /^no results differ, reward (\S+) → \1$/,
  );
});

test("results that differ are counted and shown, with the reward after the edit", () => {
  const edited = openEdited(fixture, it => it.replaceAll("Savings", "Nest egg"));
  const { summary, text } = replayOnEdited(edited, attempt, defaultProfile);
  expect(summary).toMatch(/^\d+ results? differs?, reward \d\.\d{3} → /);
  expect(text).toContain("{ total: 0, accounts: [] }");
});

test("where the goals no longer run there is no reward, and the reason is shown", () => {
  const edited = openEdited(fixture, it => it.replaceAll("acc_101", "acc_199"));
  const { summary, text } = replayOnEdited(edited, attempt, defaultProfile);
  expect(summary).toMatch(/ → none$/);
  expect(text).toMatch(/no reward: task \S+ goal \d/);
});

describe("a task whose fixture was edited", () => {
  const migrate = (edit: (text: string) => string) => migrateTask(openEdited(fixture, edit), task);

  test("is carried over if its calls and goals still hold", () => {
    const result = migrate(it => it.replace("Ana Ruiz", "Bo Lind"));
    if (result.kind !== "migrated") throw new Error(JSON.stringify(result));
    const { servers, trajectory } = result.task;
    expect(servers[0]!.digest).not.toBe(task.servers[0]!.digest);
    expect(trajectory.header.servers).toEqual(servers);
    expect(trajectory.events.length).toBe(task.trajectory.events.length);
  });

  test("is left out if a call is refused now, with the reason", () => {
    expect(migrate(it => it.replaceAll("acc_101", "acc_199"))).toEqual({
      kind: "unfit",
      why: expect.stringMatching(/^call 2, banking_transfer, is now refused \(there is no account/),
    });
  });

  test("is left out if the conversation mentions what is gone", () => {
    expect(migrate(it => it.replaceAll('"name": "Savings"', '"name": "Nest Savings"'))).toEqual({
      kind: "unfit",
      why: "call 1, banking_list_accounts, no longer gives Savings, which the conversation mentions",
    });
  });

  test("is not touched if its fixture is as it was", () => {
    expect(migrateTask(catalog, task)).toEqual({ kind: "unchanged" });
  });
});

test("an attempt starts from its fixture file, also as a variant", () => {
  const starts = (name: string) =>
    startsFrom(
      {
        ...task.trajectory,
        header: {
          ...task.trajectory.header,
          servers: [{ name: "banking", fixture: name, digest: "" }],
        },
      },
      { server: "banking", name: "full" },
    );
  expect([starts("full"), starts("full~2"), starts("full@3~2"), starts("small")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("a variant of an edited fixture has the edit", () => {
  const edited = openEdited("full", it => it.replaceAll("Savings", "Nest egg"));
  const list = (of: Catalog) =>
    JSON.stringify(
      openSessionByName(of, { servers: [{ name: "banking", fixture: "full~2" }], seed: 1 }).call(
        "banking_list_accounts",
        {},
      ).outcome,
    );
  expect(list(edited)).toContain("Nest egg");
  expect(list(edited).replaceAll("Nest egg", "Savings")).toBe(list(catalog));
});
