import { defineConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** The tests of the measurements in this folder. */
export default defineConfig({ ...shared, test: { ...test, include: ["test/lab/*.test.ts"] } });
