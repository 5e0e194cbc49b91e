/**
 * Ends this process while it computes. The event loop would notice a signal, or that the parent of
 * a forked process has ended, only after the computation, so a thread of its own watches.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Interrupting signals: Ctrl-C in a terminal, and what `kill` sends. */
export const interruptingSignals = ["SIGINT", "SIGTERM"] as const;

export type InterruptingSignal = (typeof interruptingSignals)[number];

const times = {
  /** How long the process may take to end after a signal. */
  signal: 1_900,
  /** When another signal counts as a second one; npm and `timeout` send one twice. */
  second: 300,
  /** When the function that prepares the end must have begun, and how long it may take. */
  begin: 500,
  end: 10_000,
  /** How often the thread looks for the parent, and how long the process may then take to end. */
  interval: 250,
  parent: 1_500,
};

interface ProcessWatch {
  /** Ends this process by SIGKILL soon after its parent has ended, unless it ends by itself. */
  readonly endWithParent: () => void;
  /** From now on, only a second signal ends this process. */
  readonly allowLateEnd: () => void;
}

/**
 * Starts the thread. Two seconds after a signal, or at a second one, it runs the function in the
 * midst of what this process computes, then ends the process by the signal. Code of libraries that
 * are not JavaScript can delay that; then SIGKILL ends the process, which also limits the function.
 *
 * Resolves once the thread watches: it may not be able to start while the process computes.
 */
export async function watchProcess(
  onEnd: (signal: InterruptingSignal) => void,
): Promise<ProcessWatch> {
  const hasBegun = new Int32Array(new SharedArrayBuffer(4));
  const prepareEnd = (signal: InterruptingSignal) => {
    hasBegun[0] = 1;
    onEnd(signal);
  };
  process.on(endEvent as "message", prepareEnd as (signal: unknown) => void);
  const thread = startThread(hasBegun);
  await once(thread, "message");
  thread.unref();
  return {
    endWithParent: () => thread.postMessage("with-parent"),
    allowLateEnd: () => thread.postMessage("late-end"),
  };
}

const endEvent = "prove-rl:end";

/**
 * Node gives signals to the main thread, although its loops can receive them in any thread. The
 * class that does so is internal. Without it, signals wait for the event loop.
 */
const internals = "--expose-internals";

function startThread(hasBegun: Int32Array): Worker {
  const options = {
    eval: true,
    workerData: { signals: interruptingSignals, endEvent, hasBegun, parent: process.ppid, times },
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  };
  try {
    return new Worker(program, { ...options, execArgv: [internals] });
  } catch {
    return new Worker(program, options);
  }
}

/** A text, because a file would have to be found beside the program, which is bundled. */
const program = `
const { Session } = require("node:inspector");
const { constants } = require("node:os");
const { parentPort, workerData } = require("node:worker_threads");
const { signals, endEvent, hasBegun, parent, times } = workerData;
let first, isLateEndAllowed = false;

process.emitWarning = () => {};
const handles = openSignals();
parentPort.on("message", it => {
  if (it === "late-end") isLateEndAllowed = true;
  else watchParent();
});
parentPort.postMessage("watching");

function openSignals() {
  try {
    const { Signal } = require("internal/test/binding").internalBinding("signal_wrap");
    return signals.map(name => {
      const handle = new Signal();
      handle.onsignal = () => receive(name);
      handle.start(constants.signals[name]);
      return handle;
    });
  } catch {
    return [];
  }
}

function receive(signal) {
  const now = performance.now();
  if (first === undefined) {
    first = now;
    setTimeout(() => isLateEndAllowed || end(signal), times.signal);
  } else if (now - first > times.second) end(signal);
}

function end(signal) {
  const kill = () => process.kill(process.pid, "SIGKILL");
  setTimeout(() => Atomics.load(hasBegun, 0) === 1 || kill(), times.begin);
  setTimeout(kill, times.end);
  const session = new Session();
  session.connectToMainThread();
  const expression = "process.emit(" + JSON.stringify(endEvent) + "," + JSON.stringify(signal) + ")";
  session.post("Runtime.evaluate", { expression }, () => {
    // otherwise the debugger in the main thread would say that it waits
    session.disconnect();
    for (const it of handles) it.close();
    process.kill(process.pid, signal);
  });
}

function watchParent() {
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), times.parent);
  }, times.interval);
}

// Windows does not give a process another parent, so the old one is looked for there
function isGone() {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
`;
