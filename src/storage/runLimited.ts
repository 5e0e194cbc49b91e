/**
 * Runs what somebody else makes the program compute, such as the template of a model folder, so
 * that it ends: a loop in it would keep the program from everything, signals included.
 */
import { createContext, Script } from "node:vm";

const script = new Script("run()");
const context = createContext({});

/** Of this thread, or of the process where Node.js cannot tell. */
const measureCpu = (start?: NodeJS.CpuUsage): NodeJS.CpuUsage =>
  process.threadCpuUsage?.(start) ?? process.cpuUsage(start);

/**
 * The result of a function without effects. Throws the error if it computes for longer, wherever it
 * is then. On a busy machine it may take longer than it computes, and is then run again.
 */
export function runLimited<T>(
  milliseconds: number,
  run: () => T,
  createError: (seconds: number) => Error = seconds =>
    new Error(`it takes more than ${seconds} seconds`),
): T {
  for (let timeout = milliseconds; ;) {
    const start = measureCpu();
    const outer: unknown = context["run"];
    context["run"] = run;
    try {
      return script.runInContext(context, { timeout, displayErrors: false }) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const { user, system } = measureCpu(start);
      const share = (user + system) / 1000 / milliseconds;
      if (share >= 0.9) throw createError(milliseconds / 1000);
      timeout = Math.ceil(timeout * Math.min(4, 1.2 / share));
    } finally {
      context["run"] = outer;
    }
  }
}
