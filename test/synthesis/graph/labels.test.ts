/**
 * Labels of tool pairs are made from names and by a chat model, and edges are verified on live
 * sessions.
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
  getDependencyGraph,
} from "../../../src/synthesis/graph/dependencyGraph.ts";
import {
  measureAgreement,
  listDeclaredLabels,
  type Label,
  labelByNames,
  LabelCache,
  labelWithModel,
} from "../../../src/synthesis/graph/labels.ts";
import { readTemplates } from "../../../src/synthesis/text/readTemplates.ts";
import { createVerificationSetup } from "../../../src/synthesis/user/verificationSetup.ts";
import { graph } from "../../../src/cli/graph.ts";
import { runCommand } from "../../cli/terminal.ts";
import { catalog, root } from "../../contracts/transports.ts";
import { fixture, library } from "../libraryServer.ts";

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "prove-labels-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tools = [...library.tools.values()];
const getShortName = (tool: string) => tool.slice("library_".length);
const formatLabel = ({ a, b, label, via }: Label) =>
  `${getShortName(a)} > ${getShortName(b)} ${label}${via ? ` ${via.output} > ${via.input}` : ""}`;

test("labels by names find explicit edges and no implicit ones", () => {
  expect(labelByNames(tools).map(formatLabel)).toEqual([
    "list_books > get_book explicit books[].book_id > book_id",
    "list_books > lend explicit books[].book_id > book_id",
    "get_book > lend explicit book_id > book_id",
    "find_member > lend explicit member_id > member_id",
    "get_book > return_loan explicit loans[].loan_id > loan_id",
    "lend > return_loan explicit loan_id > loan_id",
    "list_books > dust_shelf explicit books[].shelf > shelf",
  ]);
});

test("labels by names add the entity to `id`, ignore prefixes such as `from`, and skip numbers", () => {
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

test("agreement is measured on directed pairs: names find the library's 7 explicit pairs and not its implicit one", () => {
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

test("an edge works if the second call succeeds with a value from the first one's result", () => {
  const setup = createVerificationSetup({
    catalog: { ...openCatalog([library], [folder]), getFixture: () => fixture },
    server: "library",
    fixtures: ["small"],
    templates: readTemplates(folder, library),
    seed: 1,
  });
  const { edges } = getDependencyGraph(library);
  const verifications = [...verifyEdges(edges, setup)];
  expect(
    verifications.map(
      it =>
        `${getShortName(it.a)} > ${getShortName(it.b)} ${it.verified}${it.why === undefined ? "" : `: ${it.why}`}`,
    ),
  ).toEqual([
    // there are no templates with values for the pin that lending takes
    "open_desk > lend untried: no arguments for library_lend",
    "list_books > get_book works",
    "list_books > lend untried: no arguments for library_lend",
    "list_books > dust_shelf works",
    "get_book > lend untried: no arguments for library_lend",
    "get_book > return_loan works",
    "find_member > lend untried: no arguments for library_find_member",
    "lend > return_loan untried: no arguments for library_lend",
  ]);
  expect([...verifyEdges(edges, setup)]).toEqual(verifications);
});

test("an edge that fails verification is rejected: a payee who has just been added has no bill", () => {
  const server = catalog.getServer("banking");
  const { edges } = getDependencyGraph(server);
  const verifications = [
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
  const paysAddedPayee = (it: { a: string; b: string }) =>
    it.a === "banking_add_payee" && it.b === "banking_pay_bill";
  expect(verifications.find(paysAddedPayee)).toMatchObject({
    verified: "fails",
    why: expect.stringContaining("has no open bill") as string,
  });
  const verdicts = readVerdicts(listVerdictFiles(join(root, "resources")));
  expect(findVerdict(edges.find(paysAddedPayee)!, verdicts)).toMatchObject({
    verdict: "reject",
    author: "run",
  });
  expect(removeRejectedEdges(getDependencyGraph(server), verdicts).edges.some(paysAddedPayee)).toBe(
    false,
  );
  expect(getDependencyGraph(server).edges.some(paysAddedPayee)).toBe(true);
  const working = verifications.filter(it => it.verified === "works");
  expect(working.length).toBeGreaterThan(0.8 * edges.length);
});

/** A chat model with scripted answers that records its requests. */
function createScriptedModel(
  answers: (request: ChatRequest, n: number) => string,
): ChatModel & { readonly requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  return {
    name: "reader-1",
    requests,
    async complete(request) {
      requests.push(request);
      const text = answers(request, requests.length);
      return { text, calls: [], tokens: { read: 0, written: 0 } };
    },
  };
}

const listPairs = (request: ChatRequest) =>
  (
    JSON.parse((request.messages[1] as { content: string }).content) as {
      pairs: { pair: number; first: string; second: string }[];
    }
  ).pairs;

/** The answer that only `lend` and `return_loan` depend on each other. */
const labelLendAndReturn = (request: ChatRequest) =>
  JSON.stringify({
    labels: listPairs(request).map(({ pair, first, second }) => {
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

test("a model is asked about 21 pairs in requests of 20 and 1, and about none of them again", async () => {
  const file = join(folder, "library.labels.jsonl");
  const model = createScriptedModel(labelLendAndReturn);
  const labels = await labelWithModel({
    tools,
    model,
    cache: new LabelCache(file),
    concurrency: 1,
  });
  expect(model.requests.map(it => listPairs(it).length)).toEqual([20, 1]);
  expect(labels.filter(it => it.label !== "none").map(formatLabel)).toEqual([
    "lend > return_loan explicit loan_id > loan_id",
  ]);
  expect(measureAgreement(labels, listDeclaredLabels(getDependencyGraph(library)))).toMatchObject({
    labelled: 1,
    reference: 8,
    precision: 1,
    recall: 0.125,
  });
  expect(await labelWithModel({ tools, model, cache: new LabelCache(file) })).toEqual(labels);
  expect(model.requests).toHaveLength(2);
});

test("only the six pairs with a changed tool are asked about again", async () => {
  const file = join(folder, "library.labels.jsonl");
  const model = createScriptedModel(labelLendAndReturn);
  await labelWithModel({
    tools: tools.map(it =>
      it.name === "library_lend" ? { ...it, summary: "Lend a book to a member." } : it,
    ),
    model,
    cache: new LabelCache(file),
  });
  expect(
    model.requests.flatMap(listPairs).map(it => [it.first, it.second].includes("library_lend")),
  ).toEqual([true, true, true, true, true, true]);
});

test("an answer that is not JSON or omits a pair is requested again with the reason, at most three times", async () => {
  const model = createScriptedModel((request, n) =>
    n === 1
      ? "Sure! Here are the labels."
      : n === 2
        ? '{"labels":[]}'
        : labelLendAndReturn(request),
  );
  await labelWithModel({
    tools: tools.slice(0, 2),
    model,
    cache: new LabelCache(join(folder, "again.jsonl")),
  });
  expect(
    model.requests.map(
      it => (it.messages[2] as { content: string } | undefined)?.content.split(". ")[0],
    ),
  ).toEqual([
    undefined,
    "Your answer did not fit: the answer is no JSON",
    "Your answer did not fit: pair 0 has no label",
  ]);
  const failing = labelWithModel({
    tools: tools.slice(0, 2),
    model: createScriptedModel(() => "no"),
    cache: new LabelCache(join(folder, "failing.jsonl")),
  });
  await expect(failing).rejects.toThrow(PolicyFault);
  await expect(failing).rejects.toThrow(
    "reader-1 did not label library_open_desk and library_list_books",
  );
});

test("a cache may end in a torn line, and an invalid line is an error with its number", () => {
  const file = join(folder, "library.labels.jsonl");
  const whole = readFileSync(file, "utf8");
  appendFileSync(file, '{"format":"prove/la');
  expect(() => new LabelCache(file)).not.toThrow();
  writeFileSync(file, `${whole.split("\n")[0]!}\n{"format":"prove/label@9"}\n`);
  expect(() => new LabelCache(file)).toThrow(`${file}:2 is not a label: at /format`);
});

test("a workspace's verdict overrides the shipped one, and an invalid line is an error with its number", () => {
  const edge = { a: "banking_add_payee", b: "banking_pay_bill", input: "payee_id" };
  const file = listVerdictFiles(join(root, "resources"), folder).at(-1)!;
  mkdirSync(dirname(file));
  writeFileSync(
    file,
    `${formatVerdict({ ...edge, verdict: "accept", reason: "a bill may come in later", author: "Ana" })}\n`,
  );
  const verdicts = readVerdicts(listVerdictFiles(join(root, "resources"), folder));
  expect(
    removeRejectedEdges(getDependencyGraph(catalog.getServer("banking")), verdicts).edges.some(
      it => it.a === edge.a && it.b === edge.b,
    ),
  ).toBe(true);
  writeFileSync(file, '{"format":"prove/audit@1","a":"x"}\n');
  expect(() => readVerdicts([file])).toThrow(`${file}:1 is not a verdict on an edge: at /b`);
});

test("the shipped verdicts are up to date; otherwise run: npx prove-rl graph --verify --out resources/graphs/verdicts.jsonl", async () => {
  const out = join(folder, "verdicts.jsonl");
  await runCommand(graph, ["--verify", "--out", out]);
  expect(readFileSync(out, "utf8")).toBe(
    readFileSync(join(root, "resources/graphs/verdicts.jsonl"), "utf8"),
  );
});
