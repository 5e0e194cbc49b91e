/**
 * What a page may do: the content security policy of its HTML document, and the requests that the
 * editor answers, which are checked first.
 */
import { z } from "zod";
import type { PageContract } from "../../protocol/pageChannel.ts";

/** How a request is answered, and what its parameters must be. */
interface Answer<Params, Result> {
  readonly params: z.ZodType<Params>;
  readonly run: (params: Params) => Result | Promise<Result>;
}

/** The answers to the requests of a page. */
export type Answers<Contract extends PageContract> = {
  readonly [Name in keyof Contract["requests"]]: Answer<
    Contract["requests"][Name]["params"],
    Contract["requests"][Name]["result"]
  >;
};

/** Creates the answer to a request with parameters. */
export const answer = <Params, Result>(
  params: z.ZodType<Params>,
  run: (params: Params) => Result | Promise<Result>,
): Answer<Params, Result> => ({ params, run });

/** Creates the answer to a request without parameters. */
export const answerPlain = <Result>(run: () => Result | Promise<Result>): Answer<null, Result> =>
  answer(z.null(), run);

const requestSchema = z.object({ id: z.int().min(0), name: z.string(), params: z.unknown() });

/** A checked request: its id, and the function that answers it. */
export interface CheckedRequest {
  readonly id: number;
  readonly run: () => unknown;
}

/** Checks a message of a page. Throws if it is not a request that the page may send. */
export function checkRequest<Contract extends PageContract>(
  answers: Answers<Contract>,
  message: unknown,
): CheckedRequest {
  const { id, name, params } = requestSchema.parse(message);
  if (!Object.hasOwn(answers, name)) throw new Error(`a page sent the unknown request ${name}`);
  const { params: schema, run } = answers[name]!;
  const checked = schema.parse(params);
  return { id, run: () => run(checked) };
}

/** The pages, each with a script in webview/ and a style sheet in media/ of its name. */
export const pageNames = [
  "reward",
  "run",
  "synthesis",
  "graph",
  "attempts",
  "matrix",
  "group",
  "fixture",
] as const;
export type PageName = (typeof pageNames)[number];

interface ShellOptions {
  readonly name: PageName;
  readonly title: string;
  /** The decimals of rewards. */
  readonly decimals: number;
  /** Random, for each document another. */
  readonly nonce: string;
  /** The source of the editor's own files, for the policy. */
  readonly cspSource: string;
  /** Creates the address of a file of the extension. */
  readonly createUri: (...parts: readonly string[]) => string;
}

/** Only the page's own script runs, and nothing is loaded from or sent to another machine. */
export function renderShell({
  name,
  title,
  decimals,
  nonce,
  cspSource,
  createUri,
}: ShellOptions): string {
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `font-src ${cspSource}`,
    `img-src ${cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${nonce}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${createUri("media", "page.css")}">
<link rel="stylesheet" href="${createUri("media", `${name}.css`)}">
</head>
<body data-reward-decimals="${decimals}">
<main id="page" aria-busy="true"></main>
<script nonce="${nonce}" src="${createUri("dist", "webview", `${name}.js`)}"></script>
</body>
</html>`;
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, it => `&#${it.charCodeAt(0)};`);
