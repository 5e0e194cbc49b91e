/** Measures how much of some work is done before other work gets a turn of the event loop. */

/** Runs the work; `longest` is the most that `count` grew without a turn of other work. */
export async function measureLongestRun<T>(
  count: () => number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longest: number }> {
  let last = count();
  let longest = 0;
  let isDone = false;
  const measure = () => {
    longest = Math.max(longest, count() - last);
    last = count();
  };
  const takeTurn = () => {
    if (isDone) return;
    measure();
    setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  try {
    const result = await work();
    measure();
    return { result, longest };
  } finally {
    isDone = true;
  }
}
