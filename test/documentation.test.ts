/**
 * The documentation is true where a program can tell: links lead somewhere, and commands, options,
 * scripts and titles exist.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../src/cli/commands.ts";
import { run } from "./cli/program.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly contributes: { readonly commands: readonly { readonly title: string }[] };
};

const pages = globSync(["*.md", "docs/*.md"], { cwd: root })
  .map(path => path.replaceAll("\\", "/"))
  .filter(path => path !== "CHANGELOG.md")
  .map(path => ({ path, text: read(path) }));

/** The anchors of a page's headings, as GitHub and VS Code make them. */
const findAnchors = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );

const withoutCode = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

/** The targets of a page's links and images, without those on other sites. */
const findLinks = (text: string): readonly string[] =>
  [
    ...withoutCode(text)
      .replaceAll(/`[^`]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(it => it[1]!)
    .filter(it => !/^\w+:/.test(it));

/** The command lines of a program in the code of a page, such as `prove-rl tools --json`. */
const findCommandLines = (text: string, program: string): readonly string[] =>
  [...text.matchAll(/^ *```[\s\S]*?^ *```$|`[^`\n]+`|^ {4}.*$/gm)]
    .flatMap(it => it[0].replaceAll(/\\\n/g, "").split(/[\n`|]|&& /))
    .flatMap(it => (it.includes(`${program} `) ? it.split(`${program} `).slice(1) : []));

test("the pages are found", () => {
  expect(pages.map(it => it.path)).toEqual(
    expect.arrayContaining(["README.md", "docs/README.md", "docs/commands.md"]),
  );
});

describe.each(pages)("$path", ({ path, text }) => {
  test("links to files and headings that exist", () => {
    const broken = findLinks(text).filter(link => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : posix.join(dirname(path), decodeURI(file));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !findAnchors(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("has only commands and options that prove-rl has", async () => {
    const wrong: string[] = [];
    for (const line of findCommandLines(text, "prove-rl")) {
      const [name = "", ...rest] = line.trim().split(/\s+/);
      if (!/^[a-z]/.test(name) || name === "help") continue;
      const command = await commands.find(it => it.name === name)?.load();
      const known = Object.values(command?.options ?? {}).map(it => it.flags.split(" ")[0]);
      const options = rest.flatMap(it => /^--[a-z-]+/.exec(it)?.[0] ?? []);
      if (!command || options.some(it => it !== "--help" && !known.includes(it))) wrong.push(line);
    }
    expect(wrong).toEqual([]);
  });

  test("has only scripts that package.json has", () => {
    const names = findCommandLines(text, "npm run").map(it => /^[\w:]+/.exec(it)?.[0] ?? it);
    expect(names.filter(it => manifest.scripts[it] === undefined)).toEqual([]);
  });

  test("has only commands of the editor that the extension has", () => {
    const titles = manifest.contributes.commands.map(it => it.title);
    const named = [...text.matchAll(/\*\*PROVE: ([^*]+)\*\*/g)].map(it => it[1]!);
    expect(named.filter(it => !titles.includes(it))).toEqual([]);
  });
});

test("docs/commands.md lists every command as prove-rl --help does", () => {
  const rows = [...read("docs/commands.md").matchAll(/^\| `prove-rl (\S+)` +\| (.*?) +\|/gm)];
  expect(rows.map(([, name, use]) => [name, use])).toEqual(
    commands.filter(it => it.group !== undefined).map(it => [it.name, it.summary]),
  );
});

describe("the extension's page", () => {
  const page = read("docs/extension.md");

  test("has no pictures and relative links, which the editor does not show there", () => {
    expect(findLinks(page)).toEqual([]);
    expect(page).not.toMatch(/!\[|<img/);
  });
});

test.each(["docs/extension.md", "docs/anatomy-of-a-task.md"])(
  "%s shows parts of the example's attempt as the program prints it",
  async path => {
    const files = [
      "prove/tasks/beginner.trajectory.jsonl",
      "--tasks",
      "prove/tasks/example.tasks.jsonl",
    ];
    const { stdout } = await run(["score", ...files, "--show"], {
      cwd: join(root, "resources/example"),
    });
    const printed = stdout.split("\n");
    const shown = [...read(path).matchAll(/```prove transcript\n([\s\S]*?)```/g)].map(it => it[1]!);
    expect(shown).not.toEqual([]);
    expect(shown.flatMap(it => it.split("\n")).filter(it => !printed.includes(it))).toEqual([]);
  },
);

test("docs/anatomy-of-a-task.md shows a task of the example", () => {
  const [, shown] = /```json\n(\{[\s\S]*?)```/.exec(read("docs/anatomy-of-a-task.md"))!;
  const task = JSON.parse(shown!) as { readonly id: string };
  const stored = read("resources/example/prove/tasks/example.tasks.jsonl")
    .trim()
    .split("\n")
    .map(it => JSON.parse(it) as { readonly id: string });
  expect(stored.find(it => it.id === task.id)).toMatchObject(task);
});
