/** `bench`: measured numbers, one JSON line each. Nothing here is asserted: figures belong to a machine, and say which. */
import { cpus } from "node:os";
import { openByName, type Catalog } from "../environment/catalog.ts";
import { Mistake } from "../mistake.ts";
import { servingRows, serveEmptyTool, type Row } from "./benchServing.ts";
import type { Command, Terminal } from "./command.ts";

/** Does `n` units of work and returns the seconds they took. */
type Work = (n: number) => number;

interface Benchmark {
  readonly name: string;
  readonly unit: string;
  readonly work: Work;
  /** The figure, from seconds for one unit. */
  readonly value: (secondsEach: number) => number;
}

const perSecond = { unit: "1/s", value: (it: number) => 1 / it };
const micros = { unit: "µs", value: (it: number) => it * 1e6 };

const groups: Readonly<Record<string, (terminal: Terminal) => Promise<Benchmark[]>>> = {
  environment: async ({ catalog }) => environment(catalog),
};

export const bench: Command = {
  usage: `bench [${Object.keys(groups).join("|")}]`,
  summary: "Measure, one JSON line a figure: the median of five runs, the runs, and the machine.",
  options: { reference: { type: "boolean" } },
  async run(terminal, [group], values) {
    // a process of its own, which the rows over HTTP start
    if (values["reference"]) return serveEmptyTool(terminal);
    if (group !== undefined && !Object.hasOwn(groups, group)) throw new Mistake(`there is no benchmark ${group}`, `choose one of ${Object.keys(groups).join(", ")}`);
    for (const [name, make] of Object.entries(groups)) {
      if (group !== undefined && name !== group) continue;
      for (const it of await make(terminal)) {
        terminal.signal.throwIfAborted();
        terminal.print(JSON.stringify(measured(it)));
      }
      if (name === "environment") for await (const it of servingRows(terminal.signal, ["bench", "--reference"])) terminal.print(JSON.stringify(figure(it)));
    }
    return 0;
  },
};

/** Five runs of about a fifth of a second each, after one that warms up and finds how much work that is. */
function measured({ name, unit, work, value }: Benchmark) {
  let n = 1;
  let seconds = work(n);
  while (seconds < 0.05) seconds = work((n *= 4));
  const each = Math.max(1, Math.round((0.2 * n) / seconds));
  return figure({ name, unit, runs: Array.from({ length: 5 }, () => value(work(each) / each)) });
}

function figure({ name, unit, runs: exact }: Row) {
  const runs = exact.map(rounded);
  return { name, value: runs.toSorted((a, b) => a - b)[2], unit, runs, machine: machine() };
}

const rounded = (it: number) => Number(it.toPrecision(4));
const machine = () => `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, Node ${process.version}, ${process.platform}`;

const timed = (run: () => void): number => {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
};

function environment(catalog: Catalog): Benchmark[] {
  const servers = [...catalog.servers.keys()].map(name => ({ name, fixture: "full" }));
  const session = openByName(catalog, { servers, seed: 1 });
  const mix: [string, object][] = [
    ["banking_list_accounts", { name: "Savings" }],
    ["banking_get_balance", { account_id: "acc_108" }],
    ["banking_transfer", { from_account: "acc_101", to_account: "acc_108", amount: 1.25 }],
    ["banking_list_payees", {}],
    ["banking_transfer", { from_account: "acc_108", to_account: "acc_101", amount: 1.25 }],
  ];
  return [
    { name: "environment.open", ...micros, work: n => timed(() => { for (let i = 0; i < n; i++) openByName(catalog, { servers, seed: i }); }) },
    { name: "environment.fork", ...micros, work: n => timed(() => { for (let i = 0; i < n; i++) session.fork(); }) },
    {
      // validated, with digests; a session for every five calls, as a trajectory opens one
      name: "environment.calls.in-process",
      ...perSecond,
      work: n =>
        timed(() => {
          for (let i = 0; i < n; ) {
            const fresh = openByName(catalog, { servers, seed: i });
            for (const [name, args] of mix) {
              fresh.call(name, args);
              i++;
            }
          }
        }),
    },
  ];
}
