/** The parameters of an attention operation. */
import type { AttentionLayout, RopeTables } from "./attentionLayout.ts";

/** The sizes of the heads, the rotary tables, and which row attends to which. */
export interface AttentionShape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly rope: RopeTables;
  readonly layout: AttentionLayout;
}
