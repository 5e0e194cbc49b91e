/**
 * Validates the Host, Origin and token of a request. The checks of Host and Origin stop web pages
 * that make a browser send requests to this machine. The token comes from an environment variable
 * or from a file that only its owner can read, not from the command line, which other users can
 * see.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { readTextFile } from "../storage/textFiles.ts";
import { UserError } from "../userError.ts";
import { HttpError } from "./httpError.ts";

/**
 * Throws an `HttpError` for a request that is not allowed, or is not allowed to open a WebSocket.
 * Reads headers only.
 */
type RequestGuard = (request: Pick<IncomingMessage, "headers">, kind?: "WebSocket") => void;

export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" ||
  host === "::1" ||
  host === "[::1]" ||
  (isIP(host) === 4 && host.startsWith("127."));

/**
 * Creates the guard of a server that listens on this host. `allowedHosts` are other names under
 * which it is reached. Without a token, every process on this machine may send requests.
 */
export function createRequestGuard(
  host: string,
  token: string | undefined,
  allowedHosts: readonly string[] = [],
): RequestGuard {
  const isOwnHost = createHostCheck(host, allowedHosts);
  const namedHosts = new Set(allowedHosts.map(it => it.toLowerCase()));
  const tokenDigest = token === undefined ? undefined : computeDigest(token);
  return ({ headers }, kind) => {
    // a web page can make a browser send almost any request, but only with the page's own Host or
    // Origin
    if (!isOwnHost(parseHostName(headers.host ?? "") ?? ""))
      throw new HttpError(
        "FORBIDDEN",
        "the Host header does not name this server",
        "use its address, or a name given with --allow-hosts",
      );
    const origin = headers.origin?.replace(/^https?:\/\//, "").toLowerCase();
    const originName = origin === undefined ? undefined : (parseHostName(origin) ?? "");
    if (originName !== undefined && !isOwnHost(originName))
      throw new HttpError(
        "FORBIDDEN",
        "the request comes from a web page of another origin",
        "send it from a program",
      );
    // browsers let any page of this machine open one and read its messages
    if (
      kind === "WebSocket" &&
      originName !== undefined &&
      origin !== headers.host?.toLowerCase() &&
      !namedHosts.has(originName)
    )
      throw new HttpError(
        "FORBIDDEN",
        "a web page of another origin may not open a WebSocket",
        "connect from a program, or name the page's host with --allow-hosts",
      );
    const credentials = /^bearer (.*)$/is.exec(headers.authorization ?? "")?.[1] ?? "";
    if (tokenDigest && !timingSafeEqual(tokenDigest, computeDigest(credentials)))
      throw new HttpError(
        "UNAUTHORIZED",
        "the token is missing or wrong",
        "send it as Authorization: Bearer",
        { "www-authenticate": "Bearer" },
      );
  };
}

/**
 * Accepts the allowed names. For a server that other machines can reach, it also accepts IP
 * addresses and this machine's own names, none of which can be the domain name of another site.
 */
function createHostCheck(host: string, allowedHosts: readonly string[]): (name: string) => boolean {
  const isLocal = isLoopbackHost(host);
  const names = isLocal ? [] : [host, hostname(), `${hostname()}.local`];
  const ownNames = new Set([...names, ...allowedHosts].map(it => it.toLowerCase()));
  return name =>
    isLoopbackHost(name) ||
    ownNames.has(name) ||
    (!isLocal && isIP(name.replace(/^\[|\]$/g, "")) !== 0);
}

/** The name in a Host header, without the port; undefined if the header is not valid. */
const parseHostName = (host: string): string | undefined =>
  /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();

const computeDigest = (text: string) => createHash("sha256").update(text).digest();

/** The token, or undefined if there is none. Throws a `UserError` if it is not acceptable. */
export function readToken(
  environment: string | undefined,
  file: string | undefined,
): string | undefined {
  if (file !== undefined) return checkToken(readPrivateFile(file), file);
  return environment === undefined || environment === ""
    ? undefined
    : checkToken(environment, "PROVE_TOKEN");
}

function readPrivateFile(file: string): string {
  try {
    const { mode } = statSync(file);
    // on Windows the mode does not say who may read a file
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new UserError(`others can read ${file}`, `make it yours alone: chmod 600 ${file}`);
    return readTextFile(file).trim();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `cannot read the token from ${file} (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`,
      "name a file that holds the token",
      { cause },
    );
  }
}

function checkToken(token: string, source: string): string {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
  throw new UserError(
    `the token in ${source} is not 16 to 512 letters, digits and signs`,
    "create one, for example with: openssl rand -hex 32",
  );
}
