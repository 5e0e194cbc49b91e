/**
 * Whether this program runs for an editor whose workspace is not trusted: no server of the
 * workspace is then started or loaded. The editor sets the variable, and threads and child programs
 * have it.
 */
export const isRestricted = (): boolean => process.env[restrictedVariable] === "1";

export const restrictedVariable = "PROVE_RESTRICTED";
