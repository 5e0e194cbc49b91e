import { defineConfig } from "vitest/config";

/** What needs the Python packages that `run.ts` installs. */
export default defineConfig({
  test: {
    globalSetup: ["test/temporaryFolder.ts"],
    include: ["test/engines/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 120_000,
  },
});
