import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/**
 * Tests that replace modules, such as the editor's API, open pages, start the first backend of a
 * process, measure time, search the memory of a process for objects, which takes long after other
 * files, or count what a process leaves behind.
 */
const isolated = [
  "test/compute/fallback.test.ts",
  "test/mcp/hostileServers.test.ts",
  "test/security/linear.test.ts",
  "test/train/learns.test.ts",
  ...globSync("test/editor/**/*.test.ts", { cwd: import.meta.dirname }).filter(it =>
    readFileSync(join(import.meta.dirname, it), "utf8").includes("vi.mock("),
  ),
  "test/webview/**/page.test.ts",
];
const others = [
  "test/e2e/**",
  "test/engines/**",
  "test/backends/**",
  "test/lab/**",
  "node_modules/**",
  "dist/**",
];

export default defineConfig({
  // tfjs-core keeps its gradients in ES modules inside a CommonJS package: all of it is loaded as
  // ES modules, as the built programs do
  resolve: {
    alias: ["core", "backend-cpu", "backend-wasm", "backend-webgpu"].map(it => ({
      find: new RegExp(`^@tensorflow/tfjs-${it}$`),
      replacement: join(import.meta.dirname, `node_modules/@tensorflow/tfjs-${it}/dist/index.js`),
    })),
  },
  test: {
    globalSetup: ["test/temporaryFolder.ts"],
    pool: "forks",
    maxWorkers: 2,
    // these limits only end what hangs: a test may take long on a busy machine
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    server: { deps: { inline: [/@tensorflow/] } },
    // loading the modules takes longer than most tests: a worker keeps them for its next file,
    // except where a test replaces modules
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...others, ...isolated],
          isolate: false,
        },
      },
      { extends: true, test: { name: "isolated", include: isolated } },
    ],
  },
});
