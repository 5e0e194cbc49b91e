import { mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

/** The tests of the measurements in this folder. */
export default mergeConfig(shared, {
  test: { projects: undefined, include: ["test/lab/*.test.ts"] },
});
