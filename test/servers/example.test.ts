/**
 * The example server of docs/contributing-a-server.md works with every part of the product, as a
 * server of a workspace, and the snippets in the document are parts of its files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openShippedCatalog } from "../../src/app/context.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { getDependencyGraph } from "../../src/synthesis/graph/dependencyGraph.ts";
import { parseTemplates } from "../../src/synthesis/text/templates.ts";
import { checkReplay } from "../../src/trajectory/replay.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";
import { clientAt, root } from "../contracts/transports.ts";
import { synthesizeTasks } from "../synthesis/synthesizeTasks.ts";

const exampleFolder = join(import.meta.dirname, "example");
const readExample = (path: string) => readFileSync(join(exampleFolder, path), "utf8");
const catalog = await openShippedCatalog(
  [join(exampleFolder, "prove/fixtures"), join(root, "resources/servers")],
  join(root, "src/app/thread.ts"),
);
const server = catalog.getServer("plant_care");

test("the dependency graph follows from the ids and from `requires`", () => {
  const { edges } = getDependencyGraph(server);
  const listEdgesTo = (tool: string) =>
    edges.filter(it => it.b === tool).map(({ a, kind, via }) => [a, via?.input ?? kind]);
  expect(listEdgesTo("plant_care_water_plant")).toEqual([
    ["plant_care_list_plants", "plant_id"],
    ["plant_care_get_plant", "plant_id"],
    ["plant_care_undo_watering", "plant_id"],
    ["plant_care_move_plant", "plant_id"],
  ]);
  expect(listEdgesTo("plant_care_undo_watering")).toEqual([["plant_care_water_plant", "implicit"]]);
});

describe("over MCP", () => {
  let httpServer: RunningHttpServer;
  beforeAll(async () => {
    httpServer = await startHttpServer({ catalog });
  });
  afterAll(() => httpServer.close());

  test("its tools are listed and called", async () => {
    const id = createSessionId();
    await fetch(`${httpServer.url}/v1/sessions/${id}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ servers: [server.name], fixture: "small", seed: 1 }),
    });
    const client = await clientAt(`${httpServer.url}${httpServer.mcpPath(id, server.name)}`);
    const { tools } = await client.listTools();
    expect(tools.map(it => it.name)).toEqual([...server.tools.keys()]);
    expect(
      await client.callTool({
        name: "plant_care_move_plant",
        arguments: { plant_id: "plant_101", room: "hall" },
      }),
    ).toMatchObject({ structuredContent: { plant: "Big Monstera", room: "hall" } });
    await client.close();
  });
});

describe("in synthesis", () => {
  test("its templates have no errors and cover every tool", () => {
    const templates = parseTemplates(
      server,
      readExample("prove/servers/plant_care/templates.json"),
      "templates.json",
    );
    expect(Object.keys(templates.tools)).toEqual([...server.tools.keys()]);
  });

  test("tasks use every tool in the words of the templates, and replay exactly", async () => {
    const { tasks } = await synthesizeTasks(60, { catalog, servers: [server.name] });
    const calls = new Set(tasks.flatMap(it => listCalls(it.trajectory).map(call => call.name)));
    expect([...calls].toSorted()).toEqual([...server.tools.keys()].toSorted());
    const turns = tasks.flatMap(it => it.turns.map(turn => turn.user)).join("\n");
    expect(turns).toMatch(/the (Big|Little|Old|Tall|New) \w+/);
    expect(turns).not.toMatch(/plant_\d/);
    for (const it of tasks) expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
  });
});

describe("the document", () => {
  const document = readFileSync(join(root, "docs/contributing-a-server.md"), "utf8");
  // a snippet of a file follows a line with the file's path: `src/servers/plantCare/state.ts`
  const snippets = [...document.matchAll(/^`([\w./]+)`:?\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
    ([, path, text]) => ({ path: path!, text: text! }),
  );

  test("shows every file of the example", () =>
    expect(new Set(snippets.map(it => it.path))).toEqual(
      new Set([
        ...["state.ts", "plantTools.ts", "server.ts", "templates.json"].map(
          it => `prove/servers/plant_care/${it}`,
        ),
        "prove/fixtures/plant_care/small.fixture.json",
        "test/servers/plantCare.test.ts",
      ]),
    ));

  test.each(snippets)("shows $path as it is", ({ path, text }) => {
    const file = readExample(path.replace("test/servers/", ""));
    expect(findMissingPart(text, file)).toBeUndefined();
  });
});

/**
 * The first part of a snippet that the file does not contain after the parts before it, if any. The
 * parts of a snippet are separated by `…`; differences in white space are ignored.
 */
function findMissingPart(snippet: string, file: string): string | undefined {
  const text = normalizeSpace(file);
  let end = 0;
  for (const part of snippet.split("…").map(normalizeSpace)) {
    const start = text.indexOf(part, end);
    if (start < 0) return part;
    end = start + part.length;
  }
  return undefined;
}

const normalizeSpace = (text: string) => text.replaceAll(/\s+/g, " ").trim();
