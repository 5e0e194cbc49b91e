/** The packaged extension in the workbench: it is there, and shows its views. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test("the container shows its views", async () => {
  await workbench.show("PROVE");
  await workbench.rows("Servers").first().waitFor();
  expect(await workbench.rows("Servers").count()).toBeGreaterThan(0);
  await workbench.picture("container");
  await workbench.command("PROVE: Say Hello");
  await workbench.notification("hello from prove").waitFor();
});
