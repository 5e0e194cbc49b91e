/**
 * Text from outside takes time in proportion to its length, whatever it is: twice the text takes at
 * most two and a half times as long. CPU time is measured over two doublings, the best of several
 * runs, because the machine may do other things.
 */
import { expect, test } from "vitest";
import { anyShapes, entryPoints, readOnce, type EntryPoint } from "./foreignText.ts";

const length = 16_384;
const most = 2.5 ** 2;

/** Less than a text takes if each of its characters is compared with each other one. */
const plainMs = 60;

async function measure(entry: EntryPoint, text: string): Promise<number> {
  // of this thread: other tests may run in other ones
  const start = process.threadCpuUsage();
  await readOnce(entry, text);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

test.each(entryPoints)("$name", async entry => {
  const slow: string[] = [];
  for (const shape of entry.shapes ?? anyShapes) {
    const text = shape.create(length);
    let short = await measure(entry, text);
    for (let run = 1; run < 5 && short >= plainMs; run++)
      short = Math.min(short, await measure(entry, text));
    if (short < plainMs && !entry.shapes) continue;
    const longer = shape.create(4 * length);
    let long = Infinity;
    for (let run = 0; run < 5 && long > most * short; run++)
      long = Math.min(long, await measure(entry, longer));
    if (long >= plainMs && long > most * short)
      slow.push(`${shape.name} takes ${short} ms, and four times as much ${long} ms`);
  }
  expect(slow).toEqual([]);
});

test("text of many lines is read", async () => {
  const read = entryPoints.filter(it => !it.shapes);
  const reading = read.map(it => readOnce(it, "\n".repeat(200_000)));
  expect(await Promise.all(reading)).toHaveLength(read.length);
});
