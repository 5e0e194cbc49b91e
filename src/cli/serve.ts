/** `serve`: runs the HTTP service in this process until it is interrupted. */
import { resolve } from "node:path";
import { openTaskStore } from "../service/taskStore.ts";
import { createMetrics } from "../service/metrics.ts";
import { startHttpServer } from "../service/httpServer.ts";
import { readToken } from "../service/token.ts";
import { defineCommand, option } from "./command.ts";
import { commaList, wholeNumber } from "./parsers.ts";

export const serve = defineCommand({
  name: "serve",
  description:
    "Serve sessions and tasks over HTTP until Ctrl-C: /v1 for trainers, /s/{session}/{server}/mcp for MCP clients. /openapi.json describes the API. The first line on stdout is JSON with the url. A host other than this machine needs a token, from PROVE_TOKEN or --token-file.",
  arguments: [],
  options: {
    port: option("--port <n>", "port to listen on; 0 for any free one", {
      parser: wholeNumber({ max: 65_535 }),
      default: 8970,
    }),
    host: option("--host <address>", "address to listen on", { default: "127.0.0.1" }),
    allowHosts: option(
      "--allow-hosts <names>",
      "other names in the Host header under which clients reach this machine",
      { parser: commaList },
    ),
    capacity: option("--capacity <n>", "sessions that may be open at the same time", {
      parser: wholeNumber({ min: 1, max: 1_000_000 }),
      default: 16_384,
    }),
    tasks: option("--tasks <files>", "tasks files whose tasks sessions can be opened for", {
      parser: commaList,
    }),
    drain: option(
      "--drain <seconds>",
      "on Ctrl-C, wait up to this long for sessions to be closed",
      {
        parser: wholeNumber({ max: 86_400 }),
        default: 0,
      },
    ),
    tokenFile: option("--token-file <file>", "file with the token, which only you can read"),
  },
  examples: [
    "serve",
    "serve --tasks my.tasks.jsonl --port 0",
    "serve --host 0.0.0.0 --token-file ~/.prove-token",
  ],
  async run({ catalog, cwd, print, printNote, signal, allowLateEnd }, _positionals, options) {
    if (options.drain > 0) allowLateEnd();
    const tasks = await openTaskStore(
      (options.tasks ?? []).map(it => resolve(cwd, it)),
      printNote,
    );
    const service = await startHttpServer({
      catalog,
      tasks,
      metrics: createMetrics(),
      host: options.host,
      port: options.port,
      allowedHosts: options.allowHosts ?? [],
      capacity: options.capacity,
      token: readToken(process.env["PROVE_TOKEN"], options.tokenFile),
      onBug: error =>
        printNote(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    service.sessions.onChange(it => {
      if (it.kind === "called" && it.call.outcome.kind === "broken")
        printNote(it.call.outcome.message);
    });
    print(JSON.stringify({ url: service.url }));
    const offered = tasks.size > 0 ? ` and ${tasks.size} tasks` : "";
    printNote(
      `serving ${catalog.servers.size} servers with ${catalog.tools.size} tools${offered}; Ctrl-C stops`,
    );
    await waitForAbort(signal);
    if (options.drain > 0 && service.sessions.size > 0) {
      const { size } = service.sessions;
      printNote(
        `waiting up to ${options.drain} s for ${size} open ${size === 1 ? "session" : "sessions"}; Ctrl-C again stops at once`,
      );
      await service.drain(options.drain * 1_000);
    }
    await service.close();
    return 0;
  },
});

const waitForAbort = (signal: AbortSignal) =>
  new Promise<void>(resolve =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );
