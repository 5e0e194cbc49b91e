import { defineConfig } from "vitest/config";

/**
 * The packaged extension in a real workbench: two files at a time, each worker with a server and a
 * browser of its own.
 */
export default defineConfig({
  test: {
    include: ["test/e2e/*.test.ts"],
    globalSetup: ["test/temporaryFolder.ts", "test/e2e/setUp.ts"],
    setupFiles: ["test/e2e/failurePictures.ts"],
    pool: "forks",
    maxWorkers: 2,
    // these limits only end what hangs: a test may take long on a busy machine
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
