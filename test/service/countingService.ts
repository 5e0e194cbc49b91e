/** A small server of counters to run the HTTP service on, and a client without any defaults. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openCatalog, type Catalog } from "../../src/environment/catalog.ts";
import { defineServer, refuse, createToolFactory } from "../../src/environment/server.ts";

const schema = z.strictObject({
  counters: z.record(z.string(), z.strictObject({ value: z.int() })),
  limit: z.int(),
});
const tool = createToolFactory(schema);

export const counting = defineServer({
  name: "counting",
  category: "test",
  summary: "counters that go up to a limit",
  schema,
  tools: {
    add: tool({
      effect: "write",
      summary: "Add to a counter.",
      input: { counter_id: z.string().max(40), by: z.int().min(1).max(100) },
      returns: { counter_id: z.string(), value: z.int() },
      run(world, { counter_id, by }) {
        const counter =
          world.counters[counter_id] ??
          refuse("not_found", `there is no counter ${counter_id}`, "counting_list shows them");
        if (counter.value + by > world.limit)
          refuse("limit_exceeded", `${counter.value} + ${by} is over ${world.limit}`);
        counter.value += by;
        return { counter_id, value: counter.value };
      },
    }),
    list: tool({
      effect: "read",
      summary: "List the counters.",
      input: {},
      returns: { counters: z.array(z.object({ counter_id: z.string(), value: z.int() })) },
      run: world => ({
        counters: Object.entries(world.counters).map(([counter_id, { value }]) => ({
          counter_id,
          value,
        })),
      }),
    }),
    recite: tool({
      effect: "read",
      summary: "Recite a long list.",
      input: { lines: z.int().min(1).max(5_000), length: z.int().min(1).max(50_000) },
      returns: { lines: z.array(z.string()), total: z.int() },
      run: (_, { lines, length }) => ({
        lines: Array.from({ length: lines }, (__, i) => `${i} `.padEnd(length, "x")),
        total: lines,
      }),
    }),
    crash: tool({
      effect: "write",
      summary: "Break in the middle of a write.",
      input: {},
      returns: { value: z.int() },
      run(world) {
        world.counters["cnt_1"]!.value = 99;
        throw new TypeError("planted");
      },
    }),
  },
});

/** A catalog of the counting server alone, with its fixture in a folder of its own. */
export function countingCatalog(): Catalog {
  const folder = mkdtempSync(join(tmpdir(), "prove-rl-"));
  mkdirSync(join(folder, "counting"));
  const fixture = {
    format: "prove/fixture@1",
    server: "counting",
    name: "full",
    now: "2026-03-09T09:00",
    state: { counters: { cnt_1: { value: 0 }, cnt_2: { value: 5 } }, limit: 100 },
  };
  writeFileSync(join(folder, "counting", "full.fixture.json"), JSON.stringify(fixture));
  return openCatalog([counting], [folder]);
}

/** Every field of a response that tests read. */
export interface ResponseJson {
  readonly error: { readonly code: string; readonly message: string };
  readonly digest: string;
  readonly is_error: boolean;
  readonly text: string;
  readonly truncated: boolean;
  readonly structured: { readonly value: number; readonly lines: readonly string[] };
  readonly state: {
    readonly counting: {
      readonly world: { readonly counters: { readonly cnt_1: { readonly value: number } } };
    };
  };
  readonly tools: readonly unknown[];
  readonly catalog_hash: string;
  readonly id: number | string | null;
  readonly result: Readonly<Record<string, unknown>>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The text as JSON. */
  readonly json: ResponseJson;
}

export interface RequestOptions {
  readonly headers?: Record<string, string>;
  /** JSON, or text that is sent as it is. */
  readonly body?: unknown;
}

/** Sends one request with exactly these headers. */
export function sendRequest(
  url: string,
  method: string,
  { headers = {}, body }: RequestOptions = {},
): Promise<HttpResponse> {
  const text =
    body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const all =
    text === undefined || "content-type" in headers
      ? headers
      : { "content-type": "application/json", ...headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: all }, response => {
      let answer = "";
      response.setEncoding("utf8").on("data", (it: string) => (answer += it));
      response.once("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: answer,
          get json() {
            return JSON.parse(answer) as ResponseJson;
          },
        }),
      );
    });
    sent.once("error", reject);
    sent.end(text);
  });
}
