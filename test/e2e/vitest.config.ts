import { defineConfig } from "vitest/config";

/**
 * The packaged extension in a real workbench. Two files run at the same time, each with a server
 * and a browser of its own: much of what they wait for needs no processor. To measure times, run a
 * file alone.
 */
export default defineConfig({
  test: {
    include: ["test/e2e/*.test.ts"],
    globalSetup: ["test/temporaryFolder.ts", "test/e2e/setUp.ts"],
    setupFiles: ["test/e2e/failurePictures.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
