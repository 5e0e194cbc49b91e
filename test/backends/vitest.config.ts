import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

/** What needs a native backend that `run.ts` installs. */
export default mergeConfig(
  { resolve: shared.resolve },
  defineConfig({
    test: {
      include: ["test/backends/*.test.ts"],
      // other backends have no shaders
      exclude: process.env["BACKEND"] === "webgpu" ? [] : ["test/backends/shaders.test.ts"],
      pool: "forks",
      maxWorkers: 1,
      // a software implementation of WebGPU compiles the programs of a model for minutes
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 120_000 } },
      server: { deps: { inline: [/@tensorflow/] } },
    },
  }),
);
