/** Go to Definition, references and hovers of ids, with a fake of the VS Code API. */
import { expect, test, vi } from "vitest";
import { calling, catalog, lookUp, saying, transfer } from "../../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

interface Place {
  readonly line: number;
  readonly character: number;
}
interface FakeRange {
  readonly start: Place;
}
interface FakeLink {
  readonly targetUri: { readonly path: string };
  readonly targetRange: FakeRange;
}

const editor = vi.hoisted(() => {
  const providers: Record<string, (document: object, position: object) => Promise<unknown>> = {};
  const register = (name: string) => (_: object, provider: Record<string, never>) => {
    providers[name] = Object.values(provider)[0]!;
    return { dispose: () => undefined };
  };
  const texts = new Map<string, (uri: object) => Promise<string>>();
  class FakeText {
    text = "";
    appendText(it: string) {
      this.text += it;
      return this;
    }
    appendCodeblock(it: string) {
      return this.appendText(it);
    }
  }
  const createUri = (parts: { path: string }) => ({ ...parts, toString: () => parts.path });
  return {
    providers,
    texts,
    api: {
      Range: class {
        readonly start: object;
        constructor(...at: (number | object)[]) {
          this.start = typeof at[0] === "object" ? at[0] : { line: at[0], character: at[1] };
        }
      },
      Location: class {
        readonly uri: object;
        readonly range: object;
        constructor(uri: object, range: object) {
          this.uri = uri;
          this.range = range;
        }
      },
      Hover: class {
        readonly contents: FakeText;
        constructor(contents: FakeText) {
          this.contents = contents;
        }
      },
      MarkdownString: FakeText,
      ProgressLocation: {},
      Uri: { from: createUri },
      languages: Object.fromEntries(
        ["Definition", "Declaration", "Reference", "DocumentHighlight", "Hover"].map(it => [
          `register${it}Provider`,
          register(it),
        ]),
      ),
      workspace: {
        openTextDocument: async (uri: { path: string }) => {
          const text = await texts.get("/variants/")!(uri);
          const positionAt = (offset: number) => ({
            line: text.slice(0, offset).split("\n").length - 1,
            character: 0,
          });
          return { getText: () => text, positionAt };
        },
      },
    },
  };
});
vi.mock("vscode", () => editor.api);

const { registerIdFeatures } =
  await import("../../../../src/editor/attempts/transcript/idFeatures.ts");
const { FixtureEntities } =
  await import("../../../../src/editor/attempts/transcript/idFeatures.ts");

test("an argument leads to the result that showed its id, and that to the fixture", async () => {
  const { trajectory, transcript } = await loadSampleAttempt([
    calling(lookUp),
    calling(transfer("acc_108", 50)),
    saying("Moved."),
  ]);
  const entities = new FixtureEntities(
    { find: () => undefined } as never,
    { provide: (prefix: string, read: never) => editor.texts.set(prefix, read) } as never,
    { openCatalog: () => Promise.resolve(catalog) } as never,
  );
  const attempt = { trajectory, transcript, catalog };
  registerIdFeatures({ getAttempt: () => Promise.resolve(attempt) } as never, entities);
  const document = { uri: { path: "/transcripts/made/t-move.transcript" } };
  const lines = transcript.text.split("\n");
  const line = lines.findIndex(it => it.includes("to_account"));
  const position = { line, character: lines[line]!.indexOf("acc_108") + 1 };
  const define = async (at: Place) =>
    ((await editor.providers["Definition"]!(document, at)) as FakeLink[])[0]!;

  const source = await define(position);
  expect(source.targetUri).toBe(document.uri);
  expect(lines[source.targetRange.start.line]).toContain("acc_108");
  expect(source.targetRange.start.line).toBeLessThan(line);

  const entity = await define(source.targetRange.start);
  expect(entity.targetUri.path).toBe("/variants/banking/small.json");
  const fixture = await editor.texts.get("/variants/")!(entity.targetUri);
  expect(fixture.split("\n")[entity.targetRange.start.line]).toContain('"acc_108": {');

  const hover = (await editor.providers["Hover"]!(document, position)) as {
    contents: { text: string };
  };
  expect(hover.contents.text).toContain("banking.accounts.acc_108");
});
