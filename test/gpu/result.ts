/**
 * `npm run result:gpu`: the experiment of `prove_rl.recipes.smollm2`, with the arguments that it is
 * given, in the Python of `.engines` or the one that `--python` names. With `-- --device cpu
 * --dry-run`, all steps are tried out on the processor.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { python as installedPython } from "../engines/environment.ts";

const args = process.argv.slice(2);
const index = args.indexOf("--python");
const [, named] = index < 0 ? [] : args.splice(index, 2);
const python = named ?? installedPython;
if (named === undefined && !existsSync(python)) {
  process.stderr.write(
    "result:gpu: the Python packages are not installed\n" +
      "  run npm run test:engines first, or add --python PROGRAM with PyTorch and transformers\n",
  );
  process.exit(1);
}
const root = join(import.meta.dirname, "../..");
const child = spawn(python, ["-m", "prove_rl.recipes.smollm2", ...args], {
  stdio: "inherit",
  env: {
    ...process.env,
    PYTHONPATH: join(root, "resources/python"),
    PYTHONDONTWRITEBYTECODE: "1",
  },
});
for (const it of ["SIGINT", "SIGTERM"] as const) process.on(it, () => child.kill(it));
child.on("close", code => (process.exitCode = code ?? 1));
