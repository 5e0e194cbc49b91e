/**
 * A template of a thread. It contains roles instead of names: `{they}` and `{firm}` are the first
 * name and company of the correspondent, `{me}` is the user's first name; `{staff2}`, `{client0}`,
 * `{place:cafe}` are the names of these roles.
 */

export interface ThreadTemplate {
  /**
   * The role of the correspondent: `client0a` or `client0b` (the two contacts of a client),
   * `prospect3`, `staff5`, `friend2`, `place:dentist`, or a key of `senders`.
   */
  readonly with: string;
  readonly subject: string;
  /** How many days ago the last message was sent. */
  readonly days: number;
  readonly folder?: "Inbox" | "Sent" | "Archive" | "Spam";
  readonly labels?: readonly string[];
  /** Roles that get a copy of every message. */
  readonly cc?: readonly string[];
  /** The last message has not been read. */
  readonly unread?: true;
  /** `<` from the correspondent, `>` from the user; attachments are in brackets at the end. */
  readonly lines: readonly string[];
}
