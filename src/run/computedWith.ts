/** The backend that a run was trained with, or that attempts were made with, and why. */
import { z } from "zod";

export const computedWith = z.strictObject({
  backend: z.string(),
  device: z.string(),
  /** Why it was chosen, as far as that is not plain. */
  notes: z.array(z.string()),
});

export type ComputedWith = z.infer<typeof computedWith>;

/** Such as "wasm, the processor", followed by the notes. */
export const formatComputedWith = ({
  backend,
  device,
  notes,
}: Omit<ComputedWith, "notes"> & { readonly notes: readonly string[] }): string =>
  [`${backend}, ${device}`, ...notes].join("; ");
