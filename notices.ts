/**
 * Collects the packages that are part of the built programs: their licences, and the list of them
 * in CycloneDX's format. The build runs it and fails for a package whose licence is missing or not
 * allowed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** SPDX identifiers of licences that allow distribution with this product. */
export const allowedLicences: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);

interface Package {
  /** Where it is under the repository, which is also its key in the package lock. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly texts: readonly string[];
}

/**
 * The packages that contain the files. Throws for a package without a licence text and for a
 * licence that is not allowed.
 */
export function collectPackages(root: string, files: readonly string[]): readonly Package[] {
  const folders = new Set(files.flatMap(it => findPackageFolder(it.replaceAll("\\", "/")) ?? []));
  return [...folders]
    .map(it => readPackage(root, it))
    .sort((a, b) => compare(`${a.name}@${a.version}`, `${b.name}@${b.version}`));
}

export function createNotices(packages: readonly Package[]): string {
  const rule = "-".repeat(80);
  return [
    "The programs of PROVE contain the following packages, under the licences below.\n",
    ...packages.map(
      ({ name, version, license, texts }) =>
        `${rule}\n${name} ${version} (${license})\n${rule}\n\n${texts.join("\n\n")}\n`,
    ),
  ].join("\n");
}

/** The software bill of materials: each package with the hash that the package lock has. */
export function createSbom(root: string, packages: readonly Package[]): string {
  const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));
  const own = readJson("package.json") as { readonly name: string; readonly version: string };
  const lock = readJson("package-lock.json") as {
    readonly packages: Readonly<Record<string, { readonly integrity: string }>>;
  };
  const components = packages.map(({ folder, name, version, license }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    const sha512 = lock.packages[folder]!.integrity.replace(/^sha512-/, "");
    return {
      type: "library",
      "bom-ref": purl,
      name,
      version,
      hashes: [{ alg: "SHA-512", content: Buffer.from(sha512, "base64").toString("hex") }],
      licenses: [{ license: { id: license } }],
      purl,
    };
  });
  const { name, version } = own;
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": "self", name, version } },
    components,
    dependencies: [{ ref: "self", dependsOn: components.map(it => it.purl) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The folder of the package that a file belongs to; undefined for a file of this product. */
const findPackageFolder = (file: string): string | undefined =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

function readPackage(root: string, folder: string): Package {
  const path = join(root, folder);
  const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
  const { name, version, license, author } = manifest;
  if (license === undefined || !allowedLicences.has(license))
    throw new Error(`the licence of ${folder} is ${license ?? "missing"}, which is not allowed`);
  const read = (file: string) => readFileSync(join(path, file), "utf8").replaceAll("\r\n", "\n");
  const files = readdirSync(path).sort();
  const texts = files
    .filter(it => /^(?:licen[cs]e|copying|notices?|third-?party-?notices)(?:\.|-|$)/i.test(it))
    .map(it => read(it).trim());
  if (texts.length > 0) return { folder, name, version, license, texts };
  const readme = files.find(it => /^readme(?:\.|$)/i.test(it));
  const text =
    (readme && mitText.exec(read(readme))?.[0]) ??
    readStandardText(root, license, typeof author === "object" ? author.name : author);
  if (text === undefined) throw new Error(`${folder} has no licence text`);
  return { folder, name, version, license, texts: [text.trim()] };
}

/** The MIT licence in a longer text, with its copyright line. */
const mitText =
  /^[^\n]*Copyright[^\n]*\n(?:[^\n]*\n){0,3}Permission is hereby granted[\s\S]*?DEALINGS IN THE\s+SOFTWARE\./im;

/** The text of a licence for a package that does not include it. */
function readStandardText(root: string, license: string, author?: string): string | undefined {
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  switch (license) {
    case "Apache-2.0":
      // AssemblyScript's licence is the unchanged text
      return read("node_modules/assemblyscript/LICENSE");
    case "MIT":
      return author && read("LICENSE").replace(/^Copyright.*$/m, `Copyright (c) ${author}`);
    default:
      return undefined;
  }
}
