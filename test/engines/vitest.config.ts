import { defineConfig } from "vitest/config";

/** What needs the Python packages that `run.ts` installs. */
export default defineConfig({
  test: {
    globalSetup: ["test/temporaryFolder.ts"],
    include: ["test/engines/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    // these limits only end what hangs: a test may take long on a busy machine
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
