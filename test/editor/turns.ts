/**
 * Measures how long work blocks the event loop, in milliseconds of this thread's CPU time, so that
 * waiting for a core does not count.
 */
const readCpuTime = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Runs the work and returns the longest time in which nothing else could run. */
export async function measureLongestBlock<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly block: number }> {
  let last = readCpuTime();
  let block = 0;
  const measure = () => {
    const now = readCpuTime();
    block = Math.max(block, now - last);
    last = now;
  };
  const timer = setInterval(measure, 1);
  try {
    const result = await work();
    measure();
    return { result, block };
  } finally {
    clearInterval(timer);
  }
}
