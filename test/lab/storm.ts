/**
 * `npm run soak`: a million random calls on the servers, 40,000 whose outcomes were recorded, and
 * 110,000 that are held against the texts of the tools, about a quarter of an hour; then random
 * requests and files, FUZZ times as many as in `npm test`, 200 by default, which is more than an
 * hour. The script then uses the service for five minutes while its workers are killed.
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
    "test/security/fuzz",
  ],
  {
    cwd: join(import.meta.dirname, "../.."),
    env: { FUZZ: "200", ...process.env, STORM: "50" },
    stdio: "inherit",
    shell: process.platform === "win32",
  },
);
vitest.once("exit", code => void (process.exitCode = code ?? 1));
