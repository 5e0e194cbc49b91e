/** All servers' parts of a world, in the order in which they are made. Knows which there are, not what they hold. */
import type { Part } from "./part.ts";
import { handWrittenParts } from "./shipped.ts";

export const parts: readonly Part[] = [
  ...handWrittenParts,
];
