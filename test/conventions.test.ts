/**
 * The conventions hold in every file of the repository, the manifest lists exactly the commands
 * there are, and the shipped fixtures parse.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFixture, listFixtureNames } from "../src/environment/fixture.ts";
import { loadServers } from "../src/servers/catalog.ts";
import { version } from "../src/version.ts";
import { conventions, type Source } from "./conventions.ts";

const servers = await loadServers();

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly main: string;
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  };
};

/** Files that git keeps or would keep. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(
    it =>
      it !== "" &&
      it !== "package-lock.json" &&
      /\.(ts|mjs|js|json|jsonl|md|css|yml|py|sh|svg)$|^\.ci\/run$/.test(it) &&
      existsSync(join(root, it)),
  );
const sources: readonly Source[] = files.map(path => ({ path, text: read(path) }));

describe.each(conventions)("$name", convention => {
  test.each(convention.violations)("the check notices $path: $text", source => {
    expect(convention.findProblems(source)).not.toEqual([]);
  });

  test("is kept", () => {
    const problems = sources.flatMap(it =>
      convention.findProblems(it).map(problem => `${it.path} ${problem}`),
    );
    expect(problems).toEqual([]);
  });
});

test("the source files are found", () => {
  expect(files).toContain("src/environment/session.ts");
  expect(files).toContain("test/conventions.ts");
});

describe("the manifest", () => {
  const listed = manifest.contributes.commands;

  test("lists exactly the commands that the features register", () => {
    const editor = sources.filter(it => /^src\/(editor\/.*|extension)\.ts$/.test(it.path));
    const tables = editor.flatMap(({ text }) =>
      [...text.matchAll(/registerCommands\(context, (\{[\s\S]*?\})\);\n/g)].map(it => it[1]!),
    );
    const names = tables.flatMap(table =>
      [...table.matchAll(/^(?:\{| {4})\s?(\w+)(?=[:(])/gm)].map(it => `prove.${it[1]}`),
    );
    expect(names.length).toBeGreaterThan(0);
    expect(listed.map(it => it.command).toSorted()).toEqual(names.toSorted());
    // every table is one of those above, and no command is registered in another way
    const calls = editor.flatMap(({ path, text }) =>
      [...text.matchAll(/\bregisterCommands?\(/g)].map(it => `${path} ${it[0]}`),
    );
    const others = calls.filter(it => !/(register|extension)\.ts registerCommands\($/.test(it));
    expect(calls.length - others.length).toBe(tables.length);
    expect(others.toSorted()).toEqual([
      "src/editor/shared/commands.ts registerCommand(",
      "src/editor/shared/commands.ts registerCommands(",
    ]);
  });

  test("titles its commands alike, each once", () => {
    for (const { title, category } of listed) {
      expect(category).toBe("PROVE");
      // Title Case: small words may be small, and verl writes itself so
      for (const word of title.replace("…", "").split(" "))
        expect(word).toMatch(/^([A-Z]\w*|a|an|and|as|at|by|for|in|its|of|on|or|the|to|verl|with)$/);
    }
    expect(new Set(listed.map(it => it.title)).size).toBe(listed.length);
  });

  test("has only its own commands and views in its menus", () => {
    const used = Object.values(manifest.contributes.menus)
      .flat()
      .map(it => it.command);
    const known = new Set(listed.map(it => it.command));
    expect(used.filter(it => !known.has(it))).toEqual([]);
    expect(manifest.contributes.views["prove"]?.map(it => it.id)).toEqual([
      "prove.servers",
      "prove.tasks",
      "prove.runs",
    ]);
  });

  test("names the version that programs say", () => {
    expect(version).toBe(manifest.version);
  });
});

test.each(servers.map(it => [it.name, it] as const))("the fixtures of %s parse", (name, server) => {
  const folders = [join(root, "resources/servers")];
  const names = listFixtureNames(folders, name);
  expect(names.length).toBeGreaterThanOrEqual(2);
  for (const fixture of names)
    expect(readFixture(folders, server, fixture)).toMatchObject({ server: name, name: fixture });
});
