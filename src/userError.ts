/** An error that the user can fix: what happened, to what, and what to do about it. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly what: string;
  readonly remedy: string;

  /**
   * Both texts are lower case, quote identifiers verbatim, and have no full stop at the end.
   *
   * @param what What happened, and to what.
   * @param remedy What the user can do.
   */
  constructor(what: string, remedy: string, options?: ErrorOptions) {
    super(`${what}: ${remedy}`, options);
    this.what = what;
    this.remedy = remedy;
  }
}

/** Why work failed, in one line: what the user can fix, or a bug of this program. */
export function describeFailure(error: unknown): string {
  if (error instanceof UserError) return `${error.what}; ${error.remedy}`;
  return `PROVE has a bug, please report it (${String(error).split("\n", 1)[0]!})`;
}

/** A bug with its stack, for a report. */
export const formatBug = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
