/** `serve`: the HTTP service in this process, until Ctrl-C. */
import { UserError } from "../userError.ts";
import { startHttpServer as startServing } from "../service/httpServer.ts";
import { readToken } from "../service/token.ts";
import type { CliCommand, Values } from "./command.ts";

export const serve: CliCommand = {
  usage: "serve [--port 8970] [--host 127.0.0.1] [--capacity N] [--token-file F]",
  summary:
    "Serve sessions over HTTP: /v1 for trainers, /s/{session}/{server}/mcp for MCP clients. The first line on stdout is JSON with the url. A token is read from PROVE_TOKEN or a file that only you can read.",
  options: {
    port: { type: "string" },
    host: { type: "string" },
    capacity: { type: "string" },
    "token-file": { type: "string" },
  },
  async run({ catalog, print, printNote: say, signal }, _, values) {
    const serving = await startServing({
      catalog,
      host: (values["host"] as string | undefined) ?? "127.0.0.1",
      port: wholeNumber(values, "port", 8970, 0, 65_535),
      capacity: wholeNumber(values, "capacity", 16_384, 1, 1_000_000),
      token: readToken(process.env["PROVE_TOKEN"], values["token-file"] as string | undefined),
      onBug: error => say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    serving.sessions.onChange(it => {
      if (it.kind === "called" && it.call.outcome.kind === "broken") say(it.call.outcome.message);
    });
    print(JSON.stringify({ url: serving.url }));
    say(`serving ${catalog.servers.size} servers with ${catalog.tools.size} tools; Ctrl-C stops`);
    await aborted(signal);
    await serving.close();
    return 0;
  },
};

function wholeNumber(
  values: Values,
  name: string,
  otherwise: number,
  min: number,
  max: number,
): number {
  const text = values[name] as string | undefined;
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new UserError(
      `--${name} ${text} is not a whole number from ${min} to ${max}`,
      `give a number such as ${otherwise}`,
    );
  return number;
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>(resolve =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );
