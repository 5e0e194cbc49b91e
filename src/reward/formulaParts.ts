/** The rewards of other papers that a profile can name, and their parts. */

export type Formula = "graduated" | "envfactory" | "tier";

/** The parts of a formula by name. */
export type FormulaParts = Readonly<
  Record<string, { readonly score: number; readonly weight: number }>
>;
