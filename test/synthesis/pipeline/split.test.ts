/** The split of a task depends on what its goals use and on its world only. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadServers } from "../../../src/servers/catalog.ts";
import {
  readHeldOutEdges,
  computeSplit,
  computeStudentSplit,
  heldOutServers,
  isHeldOut,
  type SplitSubject,
} from "../../../src/synthesis/pipeline/split.ts";

const servers = await loadServers();
const list = readHeldOutEdges(join(import.meta.dirname, "../../../resources"));

const names = servers.filter(it => !isHeldOut(it.name)).flatMap(it => [...it.tools.keys()]);

/** A task that calls these tools, each with a value of the result before it if `isChained`. */
const createSubject = (
  tools: readonly string[],
  { isChained = false, fixture = "full", home = "banking" } = {},
): SplitSubject => ({
  goals: tools.map((name, i) => ({
    calls: [{ name, arguments: {} }],
    after: isChained && i > 0 ? [{ goal: i - 1, kind: "explicit" as const, via: "id" }] : [],
    turn: 0,
  })),
  chain: [],
  servers: [{ name: home, fixture }],
});

const getSplit = (...args: Parameters<typeof createSubject>) =>
  computeSplit(createSubject(...args), list).split;
const getStudentSplit = (tools: readonly string[]) =>
  computeStudentSplit(createSubject(tools)).split;

test("a held-out edge counts where a value flows along it, and is named", () => {
  for (const edge of list.edges) {
    const tools = edge.split(" > ");
    expect(computeSplit(createSubject(tools, { isChained: true }), list)).toEqual({
      split: "heldout-edge",
      heldOut: [edge],
    });
    expect(getSplit(tools)).toBe("train");
  }
});

test("a held-out pair counts in either order, and among other tools", () => {
  for (const pair of list.pairs) {
    const [a, b] = pair.split(" + ") as [string, string];
    const { split, heldOut } = computeSplit(createSubject([b, "maps_geocode", a]), list);
    expect([split, heldOut?.includes(pair)]).toEqual(["heldout-chain", true]);
  }
});

test("every name on the list is a tool that can be trained on", () => {
  const listed = [...list.edges, ...list.pairs].flatMap(it => it.split(/ [>+] /));
  expect(listed.filter(it => !names.includes(it))).toEqual([]);
  expect(listed.map(it => getSplit([it]))).toEqual(listed.map(() => "train"));
});

test("the reasons go before each other: server, edge, chain, world", () => {
  const [edge] = list.edges;
  const [pair] = list.pairs;
  const chained = edge!.split(" > ");
  const all = { isChained: true, fixture: "full@10" };
  expect(getSplit([...chained, "trading_get_quote"], all)).toBe("heldout-server");
  expect(getSplit([...chained, ...pair!.split(" + ")], all)).toBe("heldout-edge");
  expect(getSplit(pair!.split(" + "), { fixture: "full@10" })).toBe("heldout-chain");
  expect(getSplit(["banking_list_accounts"], { fixture: "full@10~2" })).toBe("heldout-world");
  expect(getSplit([], { fixture: "full@10" })).toBe("heldout-world");
  expect(getSplit(["banking_list_accounts"], { fixture: "full@11" })).toBe("train");
});

describe("for the small student", () => {
  test("the order and repetition of tools do not matter", () => {
    for (let i = 0; i + 2 < names.length; i++) {
      const [a, b, c] = names.slice(i, i + 3) as [string, string, string];
      expect(getStudentSplit([a, b, c])).toBe(getStudentSplit([c, a, b, a]));
    }
  });

  test("a single tool is always for training", () => {
    expect(names.map(it => getStudentSplit([it]))).toEqual(names.map(() => "train"));
    expect(getStudentSplit([])).toBe("train");
  });

  test("about a fifth of the pairs are held out", () => {
    const pairs = names.flatMap((a, i) => names.slice(i + 1).map(b => getStudentSplit([a, b])));
    const share = pairs.filter(it => it === "heldout-chain").length / pairs.length;
    expect(share).toBeGreaterThan(0.17);
    expect(share).toBeLessThan(0.23);
  });

  test("these chains keep their split", () => {
    const chain = ["banking_list_payees", "banking_list_accounts", "banking_pay_bill"];
    expect(getStudentSplit(["banking_list_accounts", "banking_transfer"])).toBe("train");
    expect(getStudentSplit(chain)).toBe("heldout-chain");
  });
});

test("one tool of a held-out server, or its name without tools, makes the split heldout-server", () => {
  const heldOut = servers.filter(it => isHeldOut(it.name));
  expect(heldOut.map(it => it.name).toSorted()).toEqual(heldOutServers.toSorted());
  for (const { name, tools } of heldOut)
    for (const tool of tools.keys())
      expect([
        getSplit([tool]),
        getSplit([...names.slice(0, 2), tool]),
        getSplit([], { home: name }),
      ]).toEqual(["heldout-server", "heldout-server", "heldout-server"]);
  expect(getSplit([])).toBe("train");
});
