/**
 * `npm run test:tensorflow` and `npm run test:webgpu`: install a native backend into `.backends`
 * and run the tests in this folder with it.
 */
import { UserError } from "../../src/userError.ts";
import { createEnvironment, installBackend, runProgram } from "./installBackend.ts";

const [name] = process.argv.slice(2);

try {
  if (name !== "tensorflow" && name !== "webgpu")
    throw new UserError(`there is no backend ${name}`, "give tensorflow or webgpu");
  runProgram("npm", ["run", "--silent", "build"]);
  installBackend(name);
  runProgram(
    "vitest",
    ["run", "--config", "test/backends/vitest.config.ts"],
    createEnvironment(name),
  );
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`test:${name}: ${error.what}\n  ${error.remedy}\n`);
  process.exitCode = 1;
}
