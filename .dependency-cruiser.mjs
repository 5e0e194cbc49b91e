/**
 * Which module may import which, checked by `npm run lint`. The table follows CONTRIBUTING.md: a
 * module may import itself, the modules listed for it, and what is open to every module (zod,
 * Node's built-ins, storage, userError.ts and version.ts). Import cycles are errors, type imports
 * included.
 */

const tensorflow = ["@tensorflow/tfjs-core"];
const domain = [
  "environment",
  "servers",
  "mcp",
  "trajectory",
  "policy",
  "rollouts",
  "synthesis",
  "reward",
];
const programs = ["evaluation", "run", "service", "engine", "protocol", "channel"];
const numerics = ["compute", "model", "train"];

/** @type {Record<string, { modules?: string[], packages?: string[], typesOnly?: boolean }>} */
const modules = {
  storage: {
    packages: [
      "hyparquet",
      "hyparquet-writer",
      "jsonc-parser",
      "lru-cache",
      "write-file-atomic",
      "yauzl",
    ],
  },
  channel: { packages: ["vscode-jsonrpc"] },
  environment: { packages: ["lru-cache"] },
  servers: { modules: ["environment"], packages: ["sucrase"] },
  mcp: {
    modules: ["environment"],
    packages: ["@modelcontextprotocol/sdk", "jsonc-parser", "lru-cache"],
  },
  trajectory: { modules: ["environment"] },
  policy: { modules: ["trajectory", "environment"] },
  synthesis: {
    modules: ["evaluation", "policy", "trajectory", "environment"],
    packages: ["lru-cache"],
  },
  rollouts: { modules: ["policy", "trajectory", "environment"] },
  reward: { modules: ["trajectory", "environment"] },
  evaluation: { modules: ["reward", "policy", "trajectory", "environment"] },
  run: { modules: ["rollouts", "reward", "trajectory", "environment", "channel"] },
  compute: {
    packages: [
      ...tensorflow,
      "@tensorflow/tfjs-backend-cpu",
      "@tensorflow/tfjs-backend-wasm",
      "@tensorflow/tfjs-backend-webgpu",
      "@tensorflow/tfjs-node-gpu",
    ],
  },
  model: {
    modules: ["compute", "policy", "trajectory", "environment"],
    packages: [...tensorflow, "@huggingface/jinja", "@huggingface/tokenizers"],
  },
  train: {
    modules: [
      "model",
      "compute",
      "run",
      "evaluation",
      "reward",
      "policy",
      "trajectory",
      "environment",
      "protocol",
      "channel",
    ],
    packages: tensorflow,
  },
  service: {
    modules: ["run", "reward", "policy", "trajectory", "environment", "mcp"],
    packages: ["lru-cache", "prom-client", "ws"],
  },
  engine: { modules: ["run", "trajectory", "reward", "environment"] },
  inspect: { modules: ["run", "reward", "synthesis", "trajectory", "environment"] },
  protocol: {
    modules: ["environment", "trajectory", "reward", "evaluation", "run", "policy", "synthesis"],
    typesOnly: true,
  },
  // all but the service, the command line and the editor
  app: {
    modules: [...domain, ...programs.filter(it => it !== "service"), ...numerics],
  },
  cli: {
    modules: [
      "app",
      "inspect",
      ...domain,
      "evaluation",
      "run",
      "protocol",
      "channel",
      "model",
      "compute",
    ],
    packages: ["commander"],
  },
  editor: {
    modules: ["inspect", ...domain, ...programs],
    packages: ["vscode", "@vscode/debugadapter", "@vscode/debugprotocol", "jsonc-parser"],
  },
};

/** Entry programs that may import more than their module. */
const exceptions = {
  "src/run/attach.ts": ["protocol"],
  "src/cli/serve.ts": ["service"],
  "src/cli/train.ts": ["train"],
  // the rows are what the service gives for the same task
  "src/app/export/formats.ts": ["service"],
  "src/train/main.ts": ["servers", "mcp", "synthesis"],
};

const anyOf = names => `(${names.map(name => name.replaceAll(/[.\\/]/g, "\\$&")).join("|")})`;
const openFiles = "^src/(storage/|(userError|version)\\.ts$)";
/**
 * The files of installed packages; `vscode` and the native backends have types only, or nothing.
 */
const packagePath = names => `(^|node_modules/(@types/)?)${anyOf(names)}(/|$)`;

/** What a module imports beyond its row. */
const moduleRules = Object.entries(modules).flatMap(
  ([name, { modules: allowed = [], packages = [] }]) => {
    const from = {
      path: `^src/${name}/`,
      pathNot: Object.keys(exceptions).map(file => `^${file}$`),
    };
    const list = [name, ...allowed];
    return [
      {
        name: `${name}: modules`,
        comment: `${name} may import ${list.join(", ")}`,
        severity: "error",
        from,
        to: { path: "^src/", pathNot: [`^src/${anyOf(list)}/`, openFiles] },
      },
      {
        name: `${name}: packages`,
        comment: `${name} may import zod${packages.map(it => `, ${it}`).join("")}`,
        severity: "error",
        from,
        to: {
          dependencyTypesNot: ["core", "local"],
          pathNot: ["^src/", packagePath(["zod", ...packages])],
        },
      },
    ];
  },
);

/** The same for the entry programs. */
const exceptionRules = Object.entries(exceptions).map(([file, more]) => {
  const name = file.split("/")[1];
  const list = [name, ...(modules[name].modules ?? []), ...more];
  return {
    name: `${file}: modules`,
    severity: "error",
    from: { path: `^${file}$` },
    to: { path: "^src/", pathNot: [`^src/${anyOf(list)}/`, openFiles] },
  };
});

/** The folders of large modules, each with the folders it may import besides itself. */
const folders = {
  synthesis: {
    text: ["graph"],
    graph: ["text"],
    user: ["text", "graph"],
    teachers: ["user", "text", "graph"],
    pipeline: ["teachers", "user", "text", "graph"],
  },
  editor: {
    shared: [],
    fixtures: ["shared"],
    servers: ["fixtures", "shared"],
    attempts: ["servers", "fixtures", "shared"],
    tasks: ["attempts", "shared"],
    synthesis: ["tasks", "attempts", "shared"],
    runs: ["synthesis", "tasks", "attempts", "shared"],
    comparison: ["runs", "tasks", "attempts", "shared"],
    links: ["runs", "tasks", "attempts", "shared"],
    testExplorer: ["runs", "tasks", "attempts", "shared"],
    migration: ["attempts", "fixtures", "shared"],
    agents: ["servers", "shared"],
    graph: ["servers", "shared"],
    documentation: ["shared"],
    terminal: ["shared"],
  },
};
const folderRules = Object.entries(folders).flatMap(([module, table]) => [
  ...Object.entries(table).map(([name, allowed]) => ({
    name: `${module}/${name}: folders`,
    comment: `${module}/${name} may import ${[name, ...allowed].join(", ")}`,
    severity: "error",
    from: { path: `^src/${module}/${name}/` },
    to: { path: `^src/${module}/`, pathNot: `^src/${module}/${anyOf([name, ...allowed])}/` },
  })),
  {
    name: `${module}: no unknown folder`,
    comment: `a new folder under src/${module} needs a row in the table`,
    severity: "error",
    from: {},
    to: { path: `^src/${module}/`, pathNot: `^src/${module}/${anyOf(Object.keys(table))}/` },
  },
]);

/** The folders of model, each with the folders it must not import. */
const modelRules = Object.entries({
  transformer: ["student", "huggingface"],
  student: ["transformer", "huggingface"],
  huggingface: ["student"],
}).map(([name, forbidden]) => ({
  name: `model/${name}: folders`,
  comment: `model/${name} may not import ${forbidden.join(", ")}`,
  severity: "error",
  from: { path: `^src/model/${name}/` },
  to: { path: `^src/model/${anyOf(forbidden)}/` },
}));

/**
 * Modules that do no input or output: of what is open to all others they may import types only, and
 * scoring the errors that it turns into reasons.
 */
const pureRules = [
  {
    name: "reward: no input or output",
    severity: "error",
    from: { path: "^src/reward/" },
    to: { path: openFiles, pathNot: "^src/userError\\.ts$", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "reward: no built-ins",
    severity: "error",
    from: { path: "^src/reward/" },
    to: { dependencyTypes: ["core", "npm", "npm-dev"], dependencyTypesNot: ["type-only"] },
  },
  {
    name: "protocol: types only",
    severity: "error",
    from: { path: "^src/protocol/" },
    to: { dependencyTypesNot: ["type-only"] },
  },
  {
    name: "webview: pages import each other and types of protocol",
    severity: "error",
    from: { path: "^webview/" },
    to: { path: "^src/", pathNot: "^src/protocol/" },
  },
  {
    name: "webview: types only of protocol",
    severity: "error",
    from: { path: "^webview/" },
    to: { path: "^src/", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "webview: neither Node nor the editor",
    severity: "error",
    from: { path: "^webview/" },
    to: {
      pathNot: [
        "^webview/",
        "^src/",
        packagePath(["@vscode/webview-ui-toolkit", "@dagrejs/dagre"]),
      ],
    },
  },
  {
    name: "src: only extension.ts imports the editor",
    severity: "error",
    from: { path: "^src/", pathNot: ["^src/editor/", "^src/extension\\.ts$"] },
    to: { path: ["^src/editor/", packagePath(["vscode"])] },
  },
  {
    name: "extension.ts: only the editor",
    severity: "error",
    from: { path: "^src/extension\\.ts$" },
    to: { pathNot: ["^src/editor/", packagePath(["vscode"])], dependencyTypesNot: ["core"] },
  },
  {
    name: "src: no unknown module",
    comment: "a new folder under src needs a row in the table",
    severity: "error",
    from: {},
    to: { path: "^src/[^/]+/", pathNot: `^src/${anyOf(Object.keys(modules))}/` },
  },
];

/** @type {Required<Pick<import("dependency-cruiser").IConfiguration, "forbidden" | "options">>} */
const config = {
  forbidden: [
    { name: "no import cycles", severity: "error", from: {}, to: { circular: true } },
    ...moduleRules,
    ...exceptionRules,
    ...folderRules,
    ...modelRules,
    ...pureRules,
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/compute/kernels" },
    tsConfig: { fileName: "tsconfig.json" },
  },
};

export default config;
