/** What a request with many parts costs others: the size of its answer, and how long they wait. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import * as schemas from "../../src/service/schemas.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { countingCatalog, sendRequest } from "./countingService.ts";

let serving: RunningHttpServer;
const bugs: unknown[] = [];
beforeAll(async () => {
  serving = await startHttpServer({ catalog: countingCatalog(), onBug: it => bugs.push(it) });
});
afterAll(() => serving.close());

interface Result {
  readonly status: number;
  readonly body: { readonly error?: { readonly code: string; readonly message: string } };
}
const sendBatch = async (requests: readonly object[]) => {
  const { json } = await sendRequest(`${serving.url}/v1/sessions:batch`, "POST", {
    body: { requests },
  });
  return (json as unknown as { results: readonly Result[] }).results;
};

test("the answer to a batch has a limit, and what it leaves out is not executed", async () => {
  const session_id = createSessionId();
  const recite = (seq: number) => ({
    do: "call",
    session_id,
    body: { seq, name: "counting_recite", arguments: { lines: 100, length: 50_000 } },
  });
  const requests = Array.from({ length: 20 }, (_, i) => recite(i + 1));
  const [opened, ...results] = await sendBatch([{ do: "open", session_id }, ...requests]);
  expect(opened!.status).toBe(200);
  const executed = results.filter(it => it.status === 200).length;
  // five megabytes each
  expect(executed).toBe(14);
  for (const it of results.slice(executed))
    expect(it).toMatchObject({
      status: 413,
      body: {
        error: {
          code: "TOO_LARGE",
          message:
            "the answer has reached 64 MB, and the request was not executed: send it again in another request",
        },
      },
    });
  const [next] = await sendBatch([recite(executed + 1)]);
  expect(next!.status).toBe(200);
});

test("others are answered while a batch is executed", async () => {
  const getCount = async () =>
    schemas.healthResponse.parse((await sendRequest(`${serving.url}/health`, "GET")).json).sessions;
  const before = await getCount();
  const requests = Array.from({ length: 6_000 }, () => ({
    do: "open",
    session_id: createSessionId(),
    body: {},
  }));
  const batch = sendBatch(requests);
  let count = before;
  while (count === before) count = await getCount();
  expect(count).toBeLessThan(before + requests.length);
  expect((await batch).filter(it => it.status !== 200)).toEqual([]);
  await sendBatch(requests.map(({ session_id }) => ({ do: "delete", session_id })));
});
