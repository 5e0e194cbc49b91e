/** When a workbench test fails, saves a picture and prints the console of every open workbench. */
import { join } from "node:path";
import { afterEach } from "vitest";
import { openWorkbenches, picturesFolder } from "./workbench.ts";

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  for (const it of openWorkbenches) {
    const file = join(picturesFolder, `failed-${task.name.replaceAll(/\W+/g, "-")}.png`);
    await it.page.screenshot({ path: file });
    process.stderr.write(
      `picture: ${file}\n${it.consoleLines
        .filter(line => /^(error|page error|warning)/.test(line))
        .slice(-20)
        .join("\n")}\n`,
    );
  }
});
