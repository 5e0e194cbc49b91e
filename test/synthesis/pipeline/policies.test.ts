/** The rules that servers declare. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readServerRules } from "../../../src/synthesis/text/serverPolicies.ts";
import { catalog } from "../../contracts/transports.ts";
import { resources } from "../synthesizeTasks.ts";

describe("the rules of a server", () => {
  test.each([...catalog.servers.keys()])(
    "of %s are four to seven, of both sorts, and one is about all writes",
    name => {
      const rules = readServerRules(join(resources, "servers"), catalog.getServer(name));
      expect(rules.length).toBeGreaterThanOrEqual(4);
      expect(rules.length).toBeLessThanOrEqual(7);
      expect(rules.filter(it => it.isGeneral)).toHaveLength(1);
      expect(new Set(rules.map(it => it.id)).size).toBe(rules.length);
      expect(new Set(rules.map(it => it.forms[0]!.demands))).toEqual(new Set(["confirm", "never"]));
      const texts = rules.flatMap(it => it.forms.flatMap(({ text, because }) => [text, because]));
      expect(texts.filter(it => /[{}]|undefined/.test(it))).toEqual([]);
    },
  );

  test.each([
    ["an unknown tool", { tools: ["banking_fly"] }, "names banking_fly"],
    [
      "an argument that no tool takes",
      { tools: ["banking_transfer"], if: { argument: "speed", above: [1] } },
      "depends on speed",
    ],
    ["a slot without a value", { tools: ["banking_transfer"], text: "Not {limit}." }, "{limit}"],
  ])("are refused with %s", (_, changes, message) => {
    const folder = mkdtempSync(join(tmpdir(), "policies-"));
    mkdirSync(join(folder, "banking"));
    const rule = { id: "a", demands: "never", text: "No.", because: "no", ...changes };
    writeFileSync(
      join(folder, "banking", "policies.json"),
      JSON.stringify({ format: "prove/policies@1", rules: [rule] }),
    );
    expect(() => readServerRules(folder, catalog.getServer("banking"))).toThrow(message);
  });
});
