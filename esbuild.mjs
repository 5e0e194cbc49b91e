/**
 * Builds every program of the product into dist/: extension host, terminal program, trainer, the
 * module that servers of a workspace import, web pages and kernels, with the licences of the
 * packages that they contain, and the changelog. With `--lab`, builds only the measurements of
 * test/lab into dist/lab, which is not shipped.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build, transform } from "esbuild";
import { collectPackages, createNotices, createSbom } from "./notices.ts";

const root = import.meta.dirname;
const at = (...parts) => join(root, ...parts);
const minify = process.argv.includes("--minify");
const version = createRequire(import.meta.url)("./package.json").version;

// zod brings its messages in forty languages: two thirds of the extension's bundle, which it would
// have to compile to start
const onlyEnglish = {
  name: "only-english",
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
      loader: "js",
    })),
};
// an ES module that imports node:http makes Node.js load its client for fetch and web sockets,
// which takes a fifth of the time to start; require does not
const requiredHttp = {
  name: "required-http",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(node:)?http$/ }, ({ namespace, kind }) =>
      namespace === "required" || kind === "require-call"
        ? undefined
        : { path: "node:http", namespace: "required" },
    );
    onLoad({ filter: /^/, namespace: "required" }, () => ({
      contents: `module.exports = require("node:http");`,
    }));
  },
};
const node = {
  plugins: [onlyEnglish, requiredHttp],
  bundle: true,
  platform: "node",
  target: "node20",
  mainFields: ["module", "main"],
  external: ["vscode", "@tensorflow/tfjs-node-gpu", "webgpu"],
  define: { __VERSION__: JSON.stringify(version) },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  minify,
};
// bundled CommonJS packages expect these
const banner = {
  js: [
    "import { createRequire as __createRequire } from 'node:module';",
    "import { dirname as __getFolder } from 'node:path';",
    "import { fileURLToPath as __getPath } from 'node:url';",
    "const require = __createRequire(import.meta.url);",
    "const __filename = __getPath(import.meta.url);",
    "const __dirname = __getFolder(__filename);",
  ].join("\n"),
};

if (process.argv.includes("--lab")) {
  await buildModules({ main: at("test/lab/main.ts") }, at("dist/lab"));
  process.exit();
}

rmSync(at("dist"), { recursive: true, force: true });
mkdirSync(at("dist"), { recursive: true });

const programs = buildModules(
  {
    cli: at("src/cli/main.ts"),
    server: at("src/servers/publicApi.ts"),
    thread: at("src/app/thread.ts"),
    trainer: at("src/train/main.ts"),
  },
  at("dist"),
);
const jobs = [programs, buildExtension()];

const pages = existsSync(at("webview"))
  ? readdirSync(at("webview"), { withFileTypes: true }).filter(
      it => it.isDirectory() && existsSync(at("webview", it.name, "main.ts")),
    )
  : [];
if (pages.length)
  jobs.push(
    build({
      entryPoints: Object.fromEntries(
        pages.map(it => [it.name, at("webview", it.name, "main.ts")]),
      ),
      outdir: at("dist/webview"),
      bundle: true,
      format: "iife",
      target: "es2022",
      minify: true,
      legalComments: "none",
      metafile: true,
      logLevel: "warning",
    }),
  );
const outputs = (await Promise.all(jobs)).flatMap(it => Object.values(it.metafile.outputs));
const bundledFiles = outputs.flatMap(({ inputs }) =>
  Object.keys(inputs).filter(it => inputs[it].bytesInOutput > 0),
);

if (existsSync(at("src/compute/kernels/kernels.ts"))) {
  const asc = at("node_modules/assemblyscript/bin/asc.js");
  const common = [
    "--importMemory",
    "--initialMemory",
    "1",
    "--maximumMemory",
    "65536",
    "--runtime",
    "stub",
    "-O3",
    "--noAssert",
    "--enable",
    "simd",
    "--enable",
    "bulk-memory",
  ];
  const relaxed = ["--enable", "relaxed-simd"];
  const builds = {
    simd: ["--use", "WIDE=0"],
    relaxed: ["--use", "WIDE=0", ...relaxed],
    wide: ["--use", "WIDE=1", ...relaxed],
  };
  for (const [name, more] of Object.entries(builds))
    execFileSync(
      process.execPath,
      [
        asc,
        at("src/compute/kernels/kernels.ts"),
        ...common,
        ...more,
        "-o",
        at(`dist/kernels-${name}.wasm`),
      ],
      { stdio: "inherit" },
    );
  copyFileSync(
    at("node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm"),
    at("dist/tfjs-backend-wasm-simd.wasm"),
  );
}

// only a package needs them
if (minify)
  execFileSync(
    process.execPath,
    [at("node_modules/typescript/bin/tsc"), "-p", at("tsconfig.types.json")],
    { stdio: "inherit" },
  );

const packages = collectPackages(root, [
  ...bundledFiles,
  // the kernels contain parts of AssemblyScript's standard library
  "node_modules/assemblyscript/std/assembly/rt/stub.ts",
]);
writeFileSync(at("dist/THIRD_PARTY_NOTICES.txt"), createNotices(packages));
writeFileSync(at("dist/sbom.cdx.json"), createSbom(root, packages));

// on the extension's page, the editor shows the changelog without its folder: links to other files
// would lead nowhere
const changelog = readFileSync(at("CHANGELOG.md"), "utf8");
writeFileSync(
  at("dist/changelog.md"),
  changelog.replaceAll(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, "`$1`"),
);

/** Builds programs as modules that are split, so that each loads only the code that it needs. */
function buildModules(entryPoints, outdir) {
  return build({
    ...node,
    entryPoints,
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    splitting: true,
    banner,
  });
}

/**
 * Builds the extension as many CommonJS files, so that its activation loads only what it needs.
 * esbuild splits only ES modules, so each output file is converted to CommonJS afterwards; dynamic
 * imports become `require`.
 */
async function buildExtension() {
  const split = await build({
    ...node,
    // the extension host reports whoever asks for a navigator, which zod does to know a worker from
    // a browser
    define: { ...node.define, navigator: "undefined" },
    entryPoints: [at("src/extension.ts")],
    outdir: at("dist/extension"),
    outExtension: { ".js": ".cjs" },
    format: "esm",
    splitting: true,
    write: false,
  });
  mkdirSync(at("dist/extension"));
  for (const { path, text } of split.outputFiles) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: node.platform,
      target: node.target,
      supported: { "dynamic-import": false },
      minify,
    });
    writeFileSync(path, code);
  }
  return split;
}
