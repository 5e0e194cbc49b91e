/** The shape of an attention operation. */
import type { RopeTables } from "./attentionLayout.ts";
import type { AttentionLayout } from "./attentionLayout.ts";

/** How the heads of an attention lie, and who looks at whom. */
export interface AttentionShape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly rope: RopeTables;
  readonly layout: AttentionLayout;
}
