/** `serve`: runs the HTTP service in this process until it is interrupted. */
import { startHttpServer } from "../service/httpServer.ts";
import { readToken } from "../service/token.ts";
import { defineCommand, option } from "./command.ts";
import { commaList, wholeNumber } from "./parsers.ts";

export const serve = defineCommand({
  name: "serve",
  description:
    "Serve sessions over HTTP until Ctrl-C: /v1 for trainers, /s/{session}/{server}/mcp for MCP clients. The first line on stdout is JSON with the url. A host other than this machine needs a token, from PROVE_TOKEN or --token-file.",
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
    tokenFile: option("--token-file <file>", "file with the token, which only you can read"),
  },
  examples: ["serve", "serve --port 0", "serve --host 0.0.0.0 --token-file ~/.prove-token"],
  async run({ catalog, print, printNote, signal }, _positionals, options) {
    const service = await startHttpServer({
      catalog,
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
    printNote(
      `serving ${catalog.servers.size} servers with ${catalog.tools.size} tools; Ctrl-C stops`,
    );
    await waitForAbort(signal);
    await service.close();
    return 0;
  },
});

const waitForAbort = (signal: AbortSignal) =>
  new Promise<void>(resolve =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );
