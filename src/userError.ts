/**
 * The one error that a person can fix: what happened to what, and what to do about it. Any room may
 * throw it.
 */
export class UserError extends Error {
  override readonly name = "Mistake";
  readonly what: string;
  readonly remedy: string;

  /** Both texts are lower case, name identifiers verbatim, and end without a full stop. */
  constructor(what: string, remedy: string, options?: ErrorOptions) {
    super(`${what}: ${remedy}`, options);
    this.what = what;
    this.remedy = remedy;
  }
}
