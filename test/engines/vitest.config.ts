import { defineConfig } from "vitest/config";

/** What needs the Python packages that `run.ts` installs. */
export default defineConfig({
  test: {
    include: ["test/engines/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 120_000,
  },
});
