/** The dependency graph has exactly the edges that follow from the declarations. */
import { expect, test } from "vitest";
import { z } from "zod";
import { id } from "../../../src/environment/fieldSchemas.ts";
import { defineServer, createToolFactory } from "../../../src/environment/server.ts";
import { getDependencyGraph } from "../../../src/synthesis/graph/dependencyGraph.ts";
import { runCommand } from "../../cli/terminal.ts";
import { graph } from "../../../src/cli/graph.ts";
import { library } from "../libraryServer.ts";

const getShortName = (tool: string) => tool.slice("library_".length);

test("the library server has these edges", () => {
  const edges = getDependencyGraph(library).edges.map(
    ({ a, b, kind, via, confidence }) =>
      `${getShortName(a)} > ${getShortName(b)} ${kind}${via ? ` ${via.output} > ${via.input}` : ""} ${confidence}`,
  );
  expect(edges).toEqual([
    "open_desk > lend implicit 1",
    "list_books > get_book explicit books[].book_id > book_id 0.9",
    "list_books > lend explicit books[].book_id > book_id 0.9",
    "list_books > dust_shelf explicit books[].shelf > shelf 0.9",
    "get_book > lend explicit book_id > book_id 1",
    "get_book > return_loan explicit loans[].loan_id > loan_id 0.9",
    "find_member > lend explicit member_id > member_id 1",
    "lend > return_loan explicit loan_id > loan_id 1",
  ]);
});

test("the hash changes with the declarations", () => {
  const createServer = (summary: string) => {
    const tool = createToolFactory(z.strictObject({}));
    return defineServer({
      name: "one",
      category: "Test",
      summary: "",
      schema: z.strictObject({}),
      tools: {
        ping: tool({
          effect: "read",
          summary,
          input: {},
          returns: { it: id("thing") },
          run: () => ({ it: "x" }),
        }),
      },
    });
  };
  expect(getDependencyGraph(createServer("a")).hash).toBe(
    getDependencyGraph(createServer("a")).hash,
  );
  expect(getDependencyGraph(createServer("a")).hash).not.toBe(
    getDependencyGraph(createServer("b")).hash,
  );
});

test("the graph command prints one line per edge, and the same edges with --json", async () => {
  const { out } = await runCommand(graph, ["banking"]);
  expect(out).toContain(
    "  banking_freeze_card -> banking_unfreeze_card  explicit  card_id -> card_id (card)  1",
  );
  expect(out.find(it => it.startsWith("  banking_add_payee -> banking_pay_bill"))).toMatch(
    / 1  not walked \(run: .* has no open bill\)$/,
  );
  const json = JSON.parse((await runCommand(graph, ["banking", "--json"])).out.join("\n")) as {
    server: string;
    edges: unknown[];
  }[];
  expect(json.map(it => [it.server, it.edges.length])).toEqual([["banking", out.length - 1]]);
  await expect(runCommand(graph, ["bank"])).rejects.toThrow("there is no server bank");
});
