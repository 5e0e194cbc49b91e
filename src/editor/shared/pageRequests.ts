/** Checks the requests of pages before they are answered. */
import { z } from "zod";
import type { PageContract } from "../../protocol/pageChannel.ts";

/** How a request is answered, and what its parameters must be. */
export interface Answer<Params, Result> {
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
