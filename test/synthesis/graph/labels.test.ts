/**
 * Labels of tool pairs: by names, by a model that is asked once, and held against what live
 * sessions answer.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  appendFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCatalog } from "../../../src/environment/catalog.ts";
import type { ChatModel, ChatRequest } from "../../../src/policy/chatModel.ts";
import { PolicyFault } from "../../../src/policy/policy.ts";
import { verifyEdges } from "../../../src/synthesis/graph/verifyEdges.ts";
import {
  listVerdictFiles,
  formatVerdict,
  removeRejectedEdges,
  readVerdicts,
  findVerdict,
} from "../../../src/synthesis/graph/edgeVerdicts.ts";
import { getDependencyGraph } from "../../../src/synthesis/graph/dependencyGraph.ts";
import {
  measureAgreement,
  listDeclaredLabels,
  type Label,
} from "../../../src/synthesis/graph/labels.ts";
import { labelByNames } from "../../../src/synthesis/graph/nameLabels.ts";
import { LabelCache } from "../../../src/synthesis/graph/labelCache.ts";
import { labelWithModel } from "../../../src/synthesis/graph/modelLabels.ts";
import { readTemplates } from "../../../src/synthesis/text/templates.ts";
import { createVerificationSetup } from "../../../src/synthesis/user/edgeArguments.ts";
import { graph } from "../../../src/cli/graph.ts";
import { runCommand } from "../../cli/terminal.ts";
import { catalog, root } from "../../contracts/doors.ts";
import { fixture, library } from "../library.ts";

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "prove-labels-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tools = [...library.tools.values()];
const short = (tool: string) => tool.slice("library_".length);
const said = ({ a, b, label, via }: Label) =>
  `${short(a)} > ${short(b)} ${label}${via ? ` ${via.output} > ${via.input}` : ""}`;

test("names see what flows by its name, and no edge that only a precondition makes", () => {
  expect(labelByNames(tools).map(said)).toEqual([
    "list_books > get_book explicit books[].book_id > book_id",
    "list_books > lend explicit books[].book_id > book_id",
    "get_book > lend explicit book_id > book_id",
    "find_member > lend explicit member_id > member_id",
    "get_book > return_loan explicit loans[].loan_id > loan_id",
    "lend > return_loan explicit loan_id > loan_id",
    "list_books > dust_shelf explicit books[].shelf > shelf",
  ]);
});

test("an id counts by its noun, a direction before it does not count, a number is chosen and not found", () => {
  const tool = (name: string, inputs: object, outputs: object) => ({
    ...tools[0]!,
    name,
    inputSchema: { required: Object.keys(inputs), properties: inputs } as never,
    outputSchema: { properties: outputs } as never,
  });
  const list = tool(
    "list",
    {},
    {
      accounts: {
        type: "array",
        items: { properties: { id: { type: "string" }, balance: { type: "number" } } },
      },
    },
  );
  const move = tool("move", { fromAccountId: { type: "string" }, balance: { type: "number" } }, {});
  expect(labelByNames([list, move]).map(it => it.via)).toEqual([
    { output: "accounts[].id", input: "fromAccountId" },
  ]);
});

test("agreement counts pairs by direction: names find 7 of the library's 7 explicit pairs and none of its implicit one", () => {
  const declared = listDeclaredLabels(getDependencyGraph(library));
  expect(measureAgreement(labelByNames(tools), declared, "explicit")).toEqual({
    labelled: 7,
    reference: 7,
    both: 7,
    precision: 1,
    recall: 1,
  });
  expect(measureAgreement(labelByNames(tools), declared)).toMatchObject({
    both: 7,
    precision: 1,
    recall: 0.875,
  });
});

test("an edge works where the second call succeeds with what the first one showed, and fails where it never does", () => {
  const setup = createVerificationSetup({
    catalog: { ...openCatalog([library], [folder]), getFixture: () => fixture },
    server: "library",
    fixtures: ["small"],
    templates: readTemplates(folder, library),
    seed: 1,
  });
  const { edges } = getDependencyGraph(library);
  const verdicts = [...verifyEdges(edges, setup)];
  expect(
    verdicts.map(
      it =>
        `${short(it.a)} > ${short(it.b)} ${it.verified}${it.why === undefined ? "" : `: ${it.why}`}`,
    ),
  ).toEqual([
    // nobody can say the pin that lending takes
    "open_desk > lend untried: no arguments for library_lend",
    "list_books > get_book works",
    "list_books > lend untried: no arguments for library_lend",
    "list_books > dust_shelf works",
    "get_book > lend untried: no arguments for library_lend",
    "get_book > return_loan works",
    "find_member > lend untried: no arguments for library_find_member",
    "lend > return_loan untried: no arguments for library_lend",
  ]);
  expect([...verifyEdges(edges, setup)]).toEqual(verdicts);
});

test("what fails when it is run is not walked: nobody pays a payee who has just been added and sent no bill", () => {
  const server = catalog.getServer("banking");
  const { edges } = getDependencyGraph(server);
  const verdicts = [
    ...verifyEdges(
      edges,
      createVerificationSetup({
        catalog,
        server: "banking",
        fixtures: ["full", "small"],
        templates: readTemplates(join(root, "resources/servers"), server),
        seed: 1,
      }),
    ),
  ];
  const isPaid = (it: { a: string; b: string }) =>
    it.a === "banking_add_payee" && it.b === "banking_pay_bill";
  expect(verdicts.find(isPaid)).toMatchObject({
    verified: "fails",
    why: expect.stringContaining("has no open bill") as string,
  });
  const audit = readVerdicts(listVerdictFiles(join(root, "resources")));
  expect(findVerdict(edges.find(isPaid)!, audit)).toMatchObject({
    verdict: "reject",
    author: "run",
  });
  expect(removeRejectedEdges(getDependencyGraph(server), audit).edges.some(isPaid)).toBe(false);
  expect(getDependencyGraph(server).edges.some(isPaid)).toBe(true);
  expect(verdicts.filter(it => it.verified === "works").length).toBeGreaterThan(0.8 * edges.length);
});

/** Says what it was made to say, request by request, and keeps what it was asked. */
function speaker(
  answers: (request: ChatRequest, n: number) => string,
): ChatModel & { readonly asked: ChatRequest[] } {
  const asked: ChatRequest[] = [];
  return {
    name: "reader-1",
    asked,
    async complete(request) {
      asked.push(request);
      return { text: answers(request, asked.length), calls: [], tokens: { read: 0, written: 0 } };
    },
  };
}

const pairsAsked = (request: ChatRequest) =>
  (
    JSON.parse((request.messages[1] as { content: string }).content) as {
      pairs: { pair: number; first: string; second: string }[];
    }
  ).pairs;

/** Knows that a loan comes of lending, and nothing else. */
const honest = (request: ChatRequest) =>
  JSON.stringify({
    labels: pairsAsked(request).map(({ pair, first, second }) => {
      const isLoan = first === "library_lend" && second === "library_return_loan";
      return {
        pair,
        label: isLoan ? "explicit" : "none",
        before: "first",
        output: isLoan ? "loan_id" : "",
        input: isLoan ? "loan_id" : "",
        confidence: 0.9,
        rationale: "read",
      };
    }),
  });

test("a model is asked twenty pairs at a time, and never twice: 21 pairs in two requests, then none", async () => {
  const file = join(folder, "library.labels.jsonl");
  const model = speaker(honest);
  const labels = await labelWithModel({
    tools,
    model,
    cache: new LabelCache(file),
    concurrency: 1,
  });
  expect(model.asked.map(it => pairsAsked(it).length)).toEqual([20, 1]);
  expect(labels.filter(it => it.label !== "none").map(said)).toEqual([
    "lend > return_loan explicit loan_id > loan_id",
  ]);
  expect(measureAgreement(labels, listDeclaredLabels(getDependencyGraph(library)))).toMatchObject({
    labelled: 1,
    reference: 8,
    precision: 1,
    recall: 0.125,
  });
  expect(await labelWithModel({ tools, model, cache: new LabelCache(file) })).toEqual(labels);
  expect(model.asked).toHaveLength(2);
});

test("one changed tool is asked about anew with the six others, and with nobody else", async () => {
  const file = join(folder, "library.labels.jsonl");
  const model = speaker(honest);
  await labelWithModel({
    tools: tools.map(it =>
      it.name === "library_lend" ? { ...it, summary: "Lend a book to a member." } : it,
    ),
    model,
    cache: new LabelCache(file),
  });
  expect(
    model.asked.flatMap(pairsAsked).map(it => [it.first, it.second].includes("library_lend")),
  ).toEqual([true, true, true, true, true, true]);
});

test("an answer that is no JSON, or that leaves a pair out, is asked for again and told why; three such end it", async () => {
  const model = speaker((request, n) =>
    n === 1 ? "Sure! Here are the labels." : n === 2 ? '{"labels":[]}' : honest(request),
  );
  await labelWithModel({
    tools: tools.slice(0, 2),
    model,
    cache: new LabelCache(join(folder, "again.jsonl")),
  });
  expect(
    model.asked.map(
      it => (it.messages[2] as { content: string } | undefined)?.content.split(". ")[0],
    ),
  ).toEqual([
    undefined,
    "Your answer did not fit: the answer is no JSON",
    "Your answer did not fit: pair 0 has no label",
  ]);
  const deaf = labelWithModel({
    tools: tools.slice(0, 2),
    model: speaker(() => "no"),
    cache: new LabelCache(join(folder, "deaf.jsonl")),
  });
  await expect(deaf).rejects.toThrow(PolicyFault);
  await expect(deaf).rejects.toThrow(
    "reader-1 did not label library_open_desk and library_list_books",
  );
});

test("a ledger that ends in half a line is asked for that pair again; a line that is no label is named", () => {
  const file = join(folder, "library.labels.jsonl");
  const whole = readFileSync(file, "utf8");
  appendFileSync(file, '{"format":"prove/la');
  expect(() => new LabelCache(file)).not.toThrow();
  writeFileSync(file, `${whole.split("\n")[0]!}\n{"format":"prove/label@9"}\n`);
  expect(() => new LabelCache(file)).toThrow(`${file}:2 is not a label: at /format`);
});

test("what a workspace says of an edge counts over what ships, and a line that is no verdict is named", () => {
  const edge = { a: "banking_add_payee", b: "banking_pay_bill", input: "payee_id" };
  const file = listVerdictFiles(join(root, "resources"), folder).at(-1)!;
  mkdirSync(dirname(file));
  writeFileSync(
    file,
    `${formatVerdict({ ...edge, verdict: "accept", reason: "a bill may come in later", author: "Ana" })}\n`,
  );
  const audit = readVerdicts(listVerdictFiles(join(root, "resources"), folder));
  expect(
    removeRejectedEdges(getDependencyGraph(catalog.getServer("banking")), audit).edges.some(
      it => it.a === edge.a && it.b === edge.b,
    ),
  ).toBe(true);
  writeFileSync(file, '{"format":"prove/audit@1","a":"x"}\n');
  expect(() => readVerdicts([file])).toThrow(`${file}:1 is not a verdict on an edge: at /b`);
});

test("the verdicts that ship are what running every edge shows; otherwise: npx prove-rl graph --verify --out resources/graphs/verdicts.jsonl", async () => {
  const out = join(folder, "audit.jsonl");
  await runCommand(graph, ["--verify", "--out", out]);
  expect(readFileSync(out, "utf8")).toBe(
    readFileSync(join(root, "resources/graphs/verdicts.jsonl"), "utf8"),
  );
});
