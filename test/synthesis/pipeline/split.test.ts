/** The split of a task depends on its tools only. */
import { expect, test } from "vitest";
import { loadServers } from "../../../src/servers/catalog.ts";
import { heldOutServers, isHeldOut, computeSplit } from "../../../src/synthesis/pipeline/split.ts";

const servers = await loadServers();

const names = servers.filter(it => !isHeldOut(it.name)).flatMap(it => [...it.tools.keys()]);

test("the order and repetition of tools do not matter", () => {
  for (let i = 0; i + 2 < names.length; i++) {
    const [a, b, c] = names.slice(i, i + 3) as [string, string, string];
    expect(computeSplit([a, b, c])).toBe(computeSplit([c, a, b, a]));
  }
});

test("a single tool is always for training", () => {
  expect(names.map(it => computeSplit([it]))).toEqual(names.map(() => "train"));
  expect(computeSplit([])).toBe("train");
});

test("about a fifth of the pairs are held out", () => {
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map(b => computeSplit([a, b])));
  const share = pairs.filter(it => it === "heldout-chain").length / pairs.length;
  expect(share).toBeGreaterThan(0.17);
  expect(share).toBeLessThan(0.23);
});

test("these chains keep their split", () => {
  expect(computeSplit(["banking_list_accounts", "banking_transfer"])).toBe("train");
  expect(computeSplit(["banking_list_payees", "banking_list_accounts", "banking_pay_bill"])).toBe(
    "heldout-chain",
  );
});

test("one tool of a held-out server, or its name without tools, makes the split heldout-server", () => {
  const heldOut = servers.filter(it => isHeldOut(it.name));
  expect(heldOut.map(it => it.name).toSorted()).toEqual(heldOutServers.toSorted());
  for (const { name, tools } of heldOut)
    for (const tool of tools.keys())
      expect([
        computeSplit([tool]),
        computeSplit([...names.slice(0, 2), tool]),
        computeSplit([], name),
      ]).toEqual(["heldout-server", "heldout-server", "heldout-server"]);
  expect(computeSplit([], "banking")).toBe("train");
});
