/**
 * `npm run soak`: a million random calls on the servers, about ten minutes, 40,000 whose outcomes
 * were recorded, and 110,000 that are held against the texts of the tools. Knows nothing of what
 * they test.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";

const vitest = spawn(
  "vitest",
  [
    "run",
    "test/contracts/storm.test.ts",
    "test/contracts/behavior.test.ts",
    "test/contracts/rules.test.ts",
  ],
  {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, STORM: "50" },
    stdio: "inherit",
    shell: process.platform === "win32",
  },
);
vitest.once("exit", code => void (process.exitCode = code ?? 1));
