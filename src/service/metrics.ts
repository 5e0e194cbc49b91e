/** Counts what a service does, in the format of Prometheus. */
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  Registry,
  collectDefaultMetrics,
} from "prom-client";
import type { Server } from "../environment/server.ts";
import type { SessionTable } from "./sessions/sessionTable.ts";

export interface Metrics {
  /** Counts the sessions and the calls of a table, and the work of servers, from now on. */
  watch(table: SessionTable, servers: Iterable<Server>): void;
  /** Counts an answered request; `route` is its method and path, with `{id}` in place of an id. */
  countRequest(route: string, status: number, seconds: number): void;
  /** Counts a session that was rebuilt from the journal. */
  countRebuilt(): void;
  /** Asks the other processes of the service, whose metrics are added to those of this one. */
  collectFrom(others: () => Promise<readonly unknown[]>): void;
  /** All metrics of this process as JSON. */
  export(): Promise<unknown>;
  /** All metrics as the text of a response, with its content type. */
  format(): Promise<{ readonly text: string; readonly type: string }>;
}

/** Seconds. Most calls take less than a millisecond, opening and scoring a few. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Creates the metrics of a service, with those of its process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "prove_request_duration_seconds",
    help: "Time from the whole request to its response",
    labelNames: ["route", "status"],
    buckets,
    registers,
  });
  const capacity = new Gauge({
    name: "prove_sessions_capacity",
    help: "Sessions that may be open at the same time",
    aggregator: "first",
    registers,
  });
  const rebuilt = new Counter({
    name: "prove_sessions_rebuilt_total",
    help: "Sessions that were rebuilt from the journal, because their process had ended",
    registers,
  });
  let collectOthers: (() => Promise<readonly unknown[]>) | undefined;
  const opened = new Counter({
    name: "prove_sessions_opened_total",
    help: "Sessions that were opened",
    registers,
  });
  const closed = new Counter({
    name: "prove_sessions_closed_total",
    help: "Sessions that were closed: deleted by the client, idle for too long, or ended",
    labelNames: ["why"],
    registers,
  });
  const calls = new Counter({
    name: "prove_calls_total",
    help: "Executed calls by outcome; those that broke are faults of the service",
    labelNames: ["outcome"],
    registers,
  });
  return {
    watch(table, servers) {
      const connected = [...servers].filter(it => it.countWork);
      if (connected.length > 0)
        registry.registerMetric(
          new Counter({
            name: "prove_server_processes_total",
            help: "What was done with processes of third-party servers: starts, calls, calls that were repeated to reach a state, and folders that were restored for it",
            labelNames: ["server", "work"],
            registers: [],
            async collect() {
              this.reset();
              for (const { name: server, countWork } of connected)
                for (const [work, count] of Object.entries(await countWork!()))
                  this.inc({ server, work }, count);
            },
          }),
        );
      capacity.set(table.capacity);
      registry.registerMetric(
        new Gauge({
          name: "prove_sessions",
          help: "Sessions that are open",
          registers: [],
          collect() {
            this.set(table.size);
          },
        }),
      );
      table.onChange(it => {
        if (it.kind === "opened") opened.inc();
        if (it.kind === "closed") closed.inc({ why: it.why });
        if (it.kind === "called") calls.inc({ outcome: it.call.outcome.kind });
      });
    },
    countRequest: (route, status, seconds) => requests.observe({ route, status }, seconds),
    countRebuilt: () => rebuilt.inc(),
    collectFrom: others => (collectOthers = others),
    export: () => registry.getMetricsAsJSON(),
    async format() {
      const type = registry.contentType;
      if (!collectOthers) return { text: await registry.metrics(), type };
      const all = [await registry.getMetricsAsJSON(), ...(await collectOthers())];
      return { text: await AggregatorRegistry.aggregate(all as object[]).metrics(), type };
    },
  };
}
