/** The packaged extension in the workbench: it is there, and shows its views. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkSeen, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test("its container shows the servers", async () => {
  await workbench.show("PROVE");
  await checkSeen(workbench.rows("Servers").filter({ hasText: "banking" }));
  expect(await workbench.rows("Servers").count()).toBeGreaterThan(1);
  await workbench.picture("servers");
});
