import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // tfjs-core keeps its gradients in ES modules inside a CommonJS package: all of it is loaded as
  // ES modules, as the built programs do
  resolve: {
    alias: ["core", "backend-cpu", "backend-wasm"].map(it => ({
      find: new RegExp(`^@tensorflow/tfjs-${it}$`),
      replacement: join(import.meta.dirname, `node_modules/@tensorflow/tfjs-${it}/dist/index.js`),
    })),
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/e2e/**", "test/engines/**", "node_modules/**", "dist/**"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    server: { deps: { inline: [/@tensorflow/] } },
  },
});
