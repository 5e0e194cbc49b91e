/**
 * When a workbench test fails, a picture of every open workbench and what its page said are kept
 * for the person who looks into it.
 */
import { join } from "node:path";
import { afterEach } from "vitest";
import { openWorkbenches, pictures } from "./workbench.ts";

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  for (const it of openWorkbenches) {
    const file = join(pictures, `failed-${task.name.replaceAll(/\W+/g, "-")}.png`);
    await it.page.screenshot({ path: file });
    process.stderr.write(
      `picture: ${file}\n${it.said
        .filter(line => /^(error|page error|warning)/.test(line))
        .slice(-20)
        .join("\n")}\n`,
    );
  }
});
