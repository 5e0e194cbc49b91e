/** The licences of the packages in the built programs are complete and allowed. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { allowedLicences, collectPackages, createNotices } from "../notices.ts";

const root = join(import.meta.dirname, "..");

describe("THIRD_PARTY_NOTICES.txt", () => {
  const text = readFileSync(join(root, "dist/THIRD_PARTY_NOTICES.txt"), "utf8");
  const headings = [...text.matchAll(/^-{80}\n(\S+) (\S+) \(([^\n]+)\)\n-{80}\n\n(?=\S)/gm)];
  const names = headings.map(it => it[1]!);

  test("has every package that the programs import", () => {
    const imported = new Set<string>();
    for (const folder of ["src", "webview"])
      for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".ts")) continue;
        const source = readFileSync(join(root, folder, file), "utf8");
        const imports =
          /^(?:import|export) (?!type )[^;]*?from "([^".][^"]*)"|import\("([^".][^"]*)"\)/gm;
        for (const [, a, b] of source.matchAll(imports))
          imported.add(/^(?:@[^/]+\/)?[^/]+/.exec(a ?? b!)![0]);
      }
    // what the editor and the user's machine provide, what only the kernels' compiler reads, and
    // what the text of a new server imports
    const provided = ["vscode", "@tensorflow/tfjs-node-gpu", "@vscode/debugprotocol", "prove-rl"];
    const expected = [...imported].filter(it => !isBuiltin(it) && !provided.includes(it));
    expect(expected).toContain("zod");
    expect(expected.filter(it => !names.includes(it))).toEqual([]);
  });

  test("has the packages of those packages, once each, under licences that are allowed", () => {
    expect(names).toEqual(expect.arrayContaining(["signal-exit", "imurmurhash", "assemblyscript"]));
    expect(new Set(headings.map(it => it[0])).size).toBe(headings.length);
    expect(headings.map(it => it[3]!).filter(it => !allowedLicences.has(it))).toEqual([]);
    expect(text.match(/^-{80}$/gm)).toHaveLength(headings.length * 2);
  });
});

/** The packages of which a program has code, as esbuild reports it. */
async function listBundled(entryPoints: readonly string[]): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    entryPoints: entryPoints.map(it => join(root, it)),
    absWorkingDir: root,
    outdir: "out",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    splitting: true,
    mainFields: ["module", "main"],
    external: ["vscode", "@tensorflow/tfjs-node-gpu", "webgpu"],
    logLevel: "error",
  });
  return new Set(
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
        bytesInOutput > 0
          ? (/^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file.replaceAll("\\", "/"))?.[1] ??
            [])
          : [],
      ),
    ),
  );
}

describe("the packages that esbuild puts into the programs", () => {
  let bundled: ReadonlySet<string>;
  beforeAll(async () => {
    const pages = readdirSync(join(root, "webview"))
      .map(it => `webview/${it}/main.ts`)
      .filter(it => existsSync(join(root, it)));
    const programs = ["cli/main", "app/thread", "train/main", "extension"];
    bundled = await listBundled([...programs.map(it => `src/${it}.ts`), ...pages]);
  });
  // the kernels are compiled by AssemblyScript, and contain parts of its library
  const isOther = (it: string) => it !== "assemblyscript";

  test("all have a notice, and nothing else has", () => {
    const text = readFileSync(join(root, "dist/THIRD_PARTY_NOTICES.txt"), "utf8");
    const noted = [...text.matchAll(/^-{80}\n(\S+) \S+ \([^\n]+\)\n-{80}$/gm)].map(it => it[1]!);
    expect(new Set(noted.filter(isOther))).toEqual(bundled);
  });

  test("are listed in CycloneDX's format, with the hashes of the package lock", () => {
    const sbom = JSON.parse(readFileSync(join(root, "dist/sbom.cdx.json"), "utf8")) as {
      bomFormat: string;
      components: { name: string; version: string; purl: string; hashes: { content: string }[] }[];
    };
    expect(sbom.bomFormat).toBe("CycloneDX");
    expect(new Set(sbom.components.map(it => it.name).filter(isOther))).toEqual(bundled);
    for (const { name, version, purl, hashes } of sbom.components) {
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
      expect(hashes[0]!.content).toMatch(/^[0-9a-f]{128}$/);
    }
  });
});

test("Python packages for users and builds are installed by hash only", () => {
  const lists = ["", "test/backends", "resources/python/prove_rl/benchmarks"].flatMap(folder =>
    readdirSync(join(root, folder))
      .filter(it => it.endsWith("-requirements.txt"))
      .map(it => join(root, folder, it)),
  );
  expect(lists).toHaveLength(5);
  for (const it of lists) {
    const text = readFileSync(it, "utf8").replaceAll("\\\n", "");
    const packages = text.split("\n").filter(line => line !== "" && !line.startsWith("#"));
    for (const line of packages) expect(line).toMatch(/^[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/);
  }
});

describe("a package is refused", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "prove-notices-"));
    return () => rmSync(folder, { recursive: true });
  });
  const create = (manifest: object, files: Readonly<Record<string, string>> = {}) => {
    const all = { "package.json": JSON.stringify(manifest), ...files };
    for (const [name, text] of Object.entries(all)) {
      const file = join(folder, "node_modules/@a/b", name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    return () => createNotices(collectPackages(folder, ["src/x.ts", "node_modules/@a/b/lib/x.js"]));
  };
  const named = { name: "@a/b", version: "1.0.0" };

  test.each(["GPL-3.0-only", "SEE LICENSE IN LICENSE", undefined])("with licence %s", license => {
    const notices = create({ ...named, license }, { LICENSE: "text" });
    expect(notices).toThrow(/licence of node_modules\/@a\/b is .*, which is not allowed/);
  });

  test("without a licence text", () => {
    expect(create({ ...named, license: "ISC" })).toThrow("node_modules/@a/b has no licence text");
  });

  test("unless both are there", () => {
    const notices = create({ ...named, license: "ISC" }, { "LICENSE.md": "the text\r\n" })();
    expect(notices).toContain(`@a/b 1.0.0 (ISC)\n${"-".repeat(80)}\n\nthe text\n`);
    expect(notices).not.toContain("src/x.ts");
  });
});
