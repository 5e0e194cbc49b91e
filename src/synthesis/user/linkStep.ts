/** One step of a conversation across servers, as a plan of the conversation lists it. */
import type { CrossServerLink } from "../text/crossServerLinks.ts";

/**
 * `from`: the user asks for the first call of the link. `to`: for the call that takes its value.
 */
export interface LinkStep {
  readonly link: CrossServerLink;
  readonly end: "from" | "to";
}
