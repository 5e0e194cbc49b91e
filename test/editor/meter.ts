/**
 * Measures how long work holds the event loop up, in milliseconds of this thread's own CPU time:
 * waiting for a core does not count.
 */
const spent = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Runs the work and tells the longest time in which nothing else could run. */
export async function longestBlock<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly block: number }> {
  let last = spent();
  let block = 0;
  const look = () => {
    const now = spent();
    block = Math.max(block, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  try {
    const result = await work();
    look();
    return { result, block };
  } finally {
    clearInterval(timer);
  }
}
