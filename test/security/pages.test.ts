/** Attacks through the pages: what they may load, and what they may ask the editor for. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  answer,
  answerPlain,
  checkRequest,
  pageNames,
  renderShell,
} from "../../src/editor/shared/pageSecurity.ts";

const root = join(import.meta.dirname, "../..");
const cspSource = "'self' https://*.vscode-cdn.net";

const render = (name: (typeof pageNames)[number], title: string) =>
  renderShell({
    name,
    title,
    decimals: 3,
    nonce: "bm9uY2U=",
    cspSource,
    createUri: (...parts) => `https://file.vscode-cdn.net/${parts.join("/")}`,
  });

test("every page has the shell", () => {
  const folders = readdirSync(join(root, "webview"), { withFileTypes: true })
    .filter(it => it.isDirectory())
    .map(it => it.name);
  expect(folders.toSorted()).toEqual(pageNames.toSorted());
});

describe.each(pageNames)("the page %s", name => {
  const html = render(name, "Run: pets");

  test("loads nothing from another machine and runs only its own script", () => {
    const [, policy] = /Content-Security-Policy" content="([^"]+)"/.exec(html)!;
    const directives = Object.fromEntries(
      policy!.split("; ").map(it => [it.split(" ")[0], it.split(" ").slice(1).join(" ")]),
    );
    expect(directives).toEqual({
      "default-src": "'none'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "style-src": `${cspSource} 'nonce-bm9uY2U='`,
      "font-src": cspSource,
      "img-src": cspSource,
      "script-src": "'nonce-bm9uY2U='",
    });
    expect(policy).not.toMatch(/unsafe|\*(?!\.vscode-cdn)|http:/);
  });

  test("has one script, with the nonce, and no code in its HTML", () => {
    expect([...html.matchAll(/<script\b[^>]*>/g)].map(it => it[0])).toEqual([
      `<script nonce="bm9uY2U=" src="https://file.vscode-cdn.net/dist/webview/${name}.js">`,
    ]);
    expect(html).not.toMatch(/\son\w+=|javascript:|<iframe|<base|style="/i);
  });

  test("a title cannot add elements", () => {
    const title = `</title><script src="https://example.com/x.js"></script><p title='"&`;
    expect(render(name, title).split("<script").length).toBe(2);
    expect(render(name, title)).not.toContain('example.com/x.js"');
  });
});

const answers = {
  load: answerPlain(() => "loaded"),
  open: answer(z.object({ line: z.int().min(1) }), ({ line }) => `line ${line}`),
};
const check = (message: unknown) => checkRequest(answers as never, message);

test("a page gets answers to its own requests", () => {
  expect(check({ id: 1, name: "load", params: null }).run()).toBe("loaded");
  expect(check({ id: 2, name: "open", params: { line: 3, file: "/x" } }).run()).toBe("line 3");
});

test.each([
  ["no request", null],
  ["a text", "load"],
  ["no id", { name: "load", params: null }],
  ["an unknown request", { id: 1, name: "run", params: null }],
  ["a property of all objects", { id: 1, name: "constructor", params: null }],
  ["the prototype", { id: 1, name: "__proto__", params: null }],
  ["no parameters", { id: 1, name: "open", params: null }],
  ["parameters of another type", { id: 1, name: "open", params: { line: "/etc/passwd" } }],
  ["a number out of range", { id: 1, name: "open", params: { line: -1 } }],
  ["parameters for a request without", { id: 1, name: "load", params: { file: "/etc/passwd" } }],
])("a page cannot send %s", (_, message) => {
  expect(() => check(message)).toThrow(/Invalid input|Too small|unknown request/);
});
