/** The rules that servers declare, and the pages that say them and what servers refuse. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import { readConduct, renderPolicyPage } from "../../../src/synthesis/text/policyPages.ts";
import {
  readServerPolicies,
  type ServerPolicies,
} from "../../../src/synthesis/text/serverPolicies.ts";
import { isAgreement } from "../../../src/trajectory/taskRules.ts";
import { catalog } from "../../contracts/transports.ts";
import { resources } from "../synthesizeTasks.ts";

const fieldProof = {
  ask: ["Which digits?"],
  about: ["digits"],
  entity: "card",
  field: "last_digits",
  say: ["{value}."],
  others: ["I don't know."],
};

describe("the rules of a server", () => {
  test.each([...catalog.servers.keys()])(
    "of %s are six to eleven, of each sort, and one is about all writes",
    name => {
      const { rules } = readServerPolicies(join(resources, "servers"), catalog.getServer(name));
      expect(rules.length).toBeGreaterThanOrEqual(6);
      expect(rules.length).toBeLessThanOrEqual(11);
      expect(rules.filter(it => it.isGeneral)).toHaveLength(1);
      expect(new Set(rules.map(it => it.id)).size).toBe(rules.length);
      expect(new Set(rules.map(it => it.forms[0]!.demands))).toEqual(
        new Set(["confirm", "never", "proof"]),
      );
      const texts = rules.flatMap(it => it.forms.flatMap(({ text, because }) => [text, because]));
      expect(texts.filter(it => /[{}]|undefined/.test(it))).toEqual([]);
    },
  );

  test.each([...catalog.servers.keys()])("of %s accept no answer that reads as a yes", name => {
    const { rules } = readServerPolicies(join(resources, "servers"), catalog.getServer(name));
    const proofs = rules.flatMap(it => it.proof ?? []);
    expect(proofs.length).toBeGreaterThan(0);
    for (const proof of proofs) {
      const texts = [...proof.others, ...("accepted" in proof ? proof.accepted : proof.say)];
      for (const it of texts) expect(isAgreement(it), it).toBe(false);
      for (const it of proof.ask)
        expect(
          proof.about.some(word => it.toLowerCase().includes(word)),
          it,
        ).toBe(true);
    }
  });

  test.each([
    ["an unknown tool", { tools: ["banking_fly"] }, "names banking_fly"],
    [
      "an argument that no tool takes",
      { tools: ["banking_transfer"], if: { argument: "speed", above: [1] } },
      "depends on speed",
    ],
    ["a proof that is missing", { tools: ["banking_transfer"], demands: "proof" }, "has a proof"],
    [
      "a proof by an entity that no result shows",
      { tools: ["banking_withdraw"], demands: "proof", proof: { ...fieldProof, entity: "safe" } },
      "wants a field of a safe",
    ],
    [
      "a proof by a field that no result shows",
      { tools: ["banking_withdraw"], demands: "proof", proof: { ...fieldProof, field: "colour" } },
      "wants colour of a card",
    ],
    [
      "a slot without a value",
      { tools: ["banking_transfer"], text: "Not {limit}." },
      "has the slot {limit}",
    ],
  ])("are refused with %s", (_, changes, message) => {
    const folder = mkdtempSync(join(tmpdir(), "policies-"));
    mkdirSync(join(folder, "banking"));
    const rule = { id: "a", demands: "never", text: "No.", because: "no", ...changes };
    const file = join(folder, "banking", "policies.json");
    writeFileSync(file, JSON.stringify({ format: "prove/policies@1", rules: [rule] }, null, 2));
    expect(() => readServerPolicies(folder, catalog.getServer("banking"))).toThrow(
      `${file}:4: rule a ${message}`,
    );
  });
});

describe("the page of a server", () => {
  const shipped = join(resources, "servers");
  const conduct = readConduct(resources);
  const pages = [...catalog.servers.values()].map(server => {
    const { page, rules } = readServerPolicies(shipped, server);
    return { name: server.name, page: page!, rules: rules.map(it => it.forms[0]!) };
  });

  test.each(pages)("of $name has 300 to 1500 words for each fixture", ({ name, page, rules }) => {
    for (const fixture of catalog.listFixtures(name)) {
      const { state } = catalog.getFixture(name, fixture);
      const text = renderPolicyPage([{ server: name, page, rules, state }], conduct);
      const { length } = text.split(/\s+/);
      expect(length).toBeGreaterThanOrEqual(300);
      expect(length).toBeLessThanOrEqual(1500);
      expect(text).not.toMatch(/[{}_]|undefined/);
      for (const it of rules) expect(text).toContain(`\n- ${it.text}`);
    }
  });

  test.each(pages)("of $name says what the server does", ({ name, page }) => {
    for (const { say, example } of page.sections.flatMap(it => it.statements)) {
      const { fixture, calls, refused } = example;
      const servers = [{ name, fixture }];
      const session = openSessionByName(catalog, { servers, seed: 1 });
      const outcomes = calls.map(it => session.call(it.name, it.arguments).outcome);
      expect(
        outcomes.slice(0, -1).every(it => it.kind === "ok"),
        say,
      ).toBe(true);
      expect(outcomes.at(-1), say).toMatchObject({ kind: "refused", message: refused });
      const { state } = catalog.getFixture(name, fixture);
      const statement = { say, example };
      const only = { title: "A", sections: [{ title: "B", statements: [statement] }] };
      const part = { server: name, page: only, rules: [], state };
      const shown = renderPolicyPage([part], []).split("\n").at(-1)!;
      // every number of the sentence is one that the server gives as its reason
      for (const number of shown.match(/\d+/g) ?? [])
        expect(refused.match(/\d+/g), say).toContain(number);
    }
  });

  test.each([
    ["an unknown tool", { calls: [{ name: "banking_fly", arguments: {} }] }, "calls banking_fly"],
    [
      "an argument that the tool does not take",
      { calls: [{ name: "banking_transfer", arguments: { speed: 1 } }] },
      "passes speed, which banking_transfer does not take",
    ],
  ])("is refused with an example with %s", (_, changes, message) => {
    const example = { fixture: "small", refused: "no", ...changes };
    expect(() => readPolicies({ demands: "never" }, example)).toThrow(
      new RegExp(`policies\\.json:\\d+: the example ${message}`),
    );
  });

  test("is refused without a rule that decides more than what is confirmed", () => {
    const call = { name: "banking_transfer", arguments: {} };
    const example = { fixture: "small", calls: [call], refused: "no" };
    expect(() => readPolicies({ demands: "confirm" }, example)).toThrow(
      /policies\.json:\d+: the page needs a rule that decides more/,
    );
  });
});

/** Reads policies of banking with this rule, and a page with one statement with this example. */
function readPolicies(changes: object, example: object): ServerPolicies {
  const folder = mkdtempSync(join(tmpdir(), "policies-"));
  mkdirSync(join(folder, "banking"));
  const rule = { id: "a", tools: ["banking_transfer"], text: "No.", because: "no", ...changes };
  const page = {
    title: "Bank",
    sections: [{ title: "Money", statements: [{ say: "No.", example }] }],
  };
  writeFileSync(
    join(folder, "banking", "policies.json"),
    JSON.stringify({ format: "prove/policies@1", rules: [rule], page }, null, 2),
  );
  return readServerPolicies(folder, catalog.getServer("banking"));
}
