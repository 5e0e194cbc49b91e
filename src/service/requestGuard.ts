/**
 * Who may come in: Host and Origin against web pages that reach for this machine, the token, and
 * JSON alone as a body. Knows no routes, and says of a token only whether it is the right one.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { HttpError } from "./httpError.ts";

export interface RequestGuard {
  /** Throws a `Failure` for a request that may not come in. Looks at headers only. */
  readonly check: (request: IncomingMessage) => void;
}

export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" ||
  host === "::1" ||
  host === "[::1]" ||
  (isIP(host) === 4 && host.startsWith("127."));

/**
 * The gate of a server that listens on this host. Without a token everybody on this machine may
 * come in.
 */
export function createRequestGuard(host: string, token: string | undefined): RequestGuard {
  const isOurs = isLoopbackHost(host) ? isLoopbackHost : namesOf(host);
  const wanted = token === undefined ? undefined : digest(`Bearer ${token}`);
  return {
    check({ headers, method }) {
      // an attacker's page can make a browser send anything here, but not with another Host or
      // Origin than its own
      if (!isOurs(nameIn(headers.host ?? "") ?? ""))
        throw new HttpError("FORBIDDEN", "the Host header does not name this server");
      if (
        headers.origin !== undefined &&
        !isOurs(nameIn(headers.origin.replace(/^https?:\/\//, "")) ?? "")
      )
        throw new HttpError(
          "FORBIDDEN",
          "requests from web pages of another origin are not answered",
        );
      if (wanted && !timingSafeEqual(wanted, digest(headers.authorization ?? "")))
        throw new HttpError(
          "UNAUTHORIZED",
          "the token is missing or wrong; send it as Authorization: Bearer",
          { "www-authenticate": "Bearer" },
        );
      if ((method === "POST" || method === "PUT") && !isJson(headers["content-type"]))
        throw new HttpError("NOT_JSON", "a body must have the content type application/json");
    },
  };
}

/**
 * Where we listen for other machines, whatever cannot be another's domain name: addresses, and this
 * machine's own names.
 */
function namesOf(host: string): (name: string) => boolean {
  const own = [host, hostname()].map(it => it.toLowerCase());
  return name =>
    isLoopbackHost(name) ||
    isIP(name.replace(/^\[|\]$/g, "")) !== 0 ||
    own.some(it => name === it || name.startsWith(`${it}.`));
}

/** The name in a Host header, or undefined where it is none. */
const nameIn = (host: string): string | undefined =>
  /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();

const isJson = (type: string | undefined) => /^application\/json\s*(;|$)/i.test(type ?? "");
const digest = (text: string) => createHash("sha256").update(text).digest();
