/**
 * The keys of an entry in `prove/mcp.json` for a remote server: its address, and the
 * headers that it is sent. Their values may be secret: they are filled in when a connection is
 * opened, and appear in no message.
 */
import { isIP } from "node:net";
import { z } from "zod";
import { UserError } from "../userError.ts";

/** What is spoken to over MCP's streamable HTTP. */
export interface Remote {
  readonly url: string;
  /** Their values by their names, with `${env:NAME}` as it is written. */
  readonly headers: Readonly<Record<string, string>>;
}

export const remoteShape = {
  type: z
    .enum(["http", "streamable-http", "streamableHttp"])
    .nullish()
    .describe("Servers at an address are spoken to over streamable HTTP."),
  url: z.string().min(1).describe("The address of a remote server, beginning with https."),
  headers: z
    .record(z.string(), z.string())
    .nullish()
    .describe(
      "What each request has in its header. ${env:NAME} stands for a variable of your environment: write no password here.",
    ),
  allowHttp: z
    .boolean()
    .nullish()
    .describe(
      "Whether the address may begin with http, so that everybody on the way can read what is sent. This machine's own addresses always may.",
    ),
};

type RemoteJson = z.output<z.ZodObject<typeof remoteShape>>;

/** Why an entry cannot be used. */
interface RemoteFault {
  readonly path: readonly string[];
  readonly what: string;
  readonly remedy: string;
}

const envVariable = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The first thing that is wrong with an address and headers that fit the schema, or undefined. */
export function findRemoteFault({ url, headers, allowHttp }: RemoteJson): RemoteFault | undefined {
  const [variable] = /\$\{[^}]*\}?/.exec(url) ?? [];
  if (variable !== undefined)
    return {
      path: ["url"],
      what: `url has ${variable}, which is not filled in`,
      remedy: "write the address itself, and what is secret into headers, as ${env:NAME}",
    };
  return (
    findUrlFault(url, allowHttp ?? false) ??
    Object.entries(headers ?? {})
      .map(([name, value]) => findHeaderFault(name, value))
      .find(it => it !== undefined)
  );
}

function findUrlFault(text: string, allowHttp: boolean): RemoteFault | undefined {
  const path = ["url"];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    return {
      path,
      what: "url is not an address that begins with https:// or http://",
      remedy: "write the address of the server, such as https://example.com/mcp",
    };
  if (url.username || url.password)
    return {
      path,
      what: "url has a user name or a password",
      remedy:
        'remove it, and write "headers": {"Authorization": "Basic ${env:NAME}"}, whose variable has user:password in Base64',
    };
  if (url.protocol === "http:" && !allowHttp && !isLoopback(url.hostname))
    return {
      path,
      what: "url begins with http, so that everybody on the way can read what is sent",
      remedy: 'write https, or "allowHttp": true for a network that you trust',
    };
  return undefined;
}

function findHeaderFault(name: string, value: string): RemoteFault | undefined {
  const path = ["headers", name];
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    return { path, what: `${JSON.stringify(name)} is no name of a header`, remedy: "correct it" };
  if (/^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*)$/i.test(name))
    return { path, what: `the header ${name} is set by the connection`, remedy: "remove it" };
  const rest = value.replaceAll(envVariable, "");
  const [variable] = /\$\{[^}]*\}?/.exec(rest) ?? [];
  return variable === undefined
    ? undefined
    : {
        path,
        what: `headers.${name} has ${variable}, which is not filled in`,
        remedy: "write ${env:NAME} for a variable of your environment",
      };
}

const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "[::1]" ||
  (isIP(host) === 4 && host.startsWith("127."));

/** The address as a person may read it: without the values of its query. */
export function describeUrl(text: string): string {
  const url = new URL(text);
  const keys = [...new Set(url.searchParams.keys())].map(it => `${encodeURIComponent(it)}=…`);
  return `${url.origin}${url.pathname}${keys.length > 0 ? `?${keys.join("&")}` : ""}`;
}

/** The headers as a person may read them: their names, and the variables that they take. */
export function describeHeaders(remote: Remote): string {
  const names = Object.keys(remote.headers);
  if (names.length === 0) return "no headers of its own";
  const variables = listHeaderVariables(remote);
  const from = variables.length > 0 ? `, from the variables ${variables.join(", ")}` : "";
  return `the headers ${names.join(", ")}${from}`;
}

/** The variables of the environment that the headers take. */
export const listHeaderVariables = ({ headers }: Remote): string[] => [
  ...new Set(
    Object.values(headers).flatMap(it => Array.from(it.matchAll(envVariable), ([, name]) => name!)),
  ),
];

/** The headers with their variables filled in. Throws a `UserError` for one that is not set. */
export function fillInHeaders(
  server: string,
  remote: Remote,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const missing = listHeaderVariables(remote).find(it => !env[it]);
  if (missing !== undefined)
    throw new UserError(
      `the variable ${missing} is not set, which a header of ${server} takes`,
      `set ${missing} where you run this, or correct headers in entry ${server} of prove/mcp.json`,
    );
  return Object.fromEntries(
    Object.entries(remote.headers).map(([name, text]) => {
      const value = text.replaceAll(envVariable, (_, it: string) => env[it]!).trim();
      if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
        throw new UserError(
          `the header ${name} of ${server} has a line break or another character that headers cannot have`,
          "correct the variable that it takes",
        );
      return [name, value];
    }),
  );
}

/** What must not be shown of a connection: the values of its headers and of its query. */
export function listSecrets(url: string, headers: Readonly<Record<string, string>>): string[] {
  const values = [...Object.values(headers), ...new URL(url).searchParams.values()];
  // of `Bearer abc`, servers repeat the second part alone
  return [...new Set([...values, ...values.flatMap(it => it.split(/\s+/))])]
    .filter(it => it.length >= minSecret)
    .toSorted((a, b) => b.length - a.length);
}

/** Shorter values, such as `json`, are parts of ordinary texts. */
const minSecret = 8;
