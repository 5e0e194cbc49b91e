/** The names by which people call tools: `banking_transfer`, `banking.transfer` or `transfer`. */

/** The full names that a name can stand for in a session on these servers. */
export function listFullNames(
  name: string,
  servers: readonly { readonly name: string }[],
): readonly string[] {
  const own = name.trim().replace(".", "_");
  return [own, ...servers.map(it => `${it.name}_${own}`)];
}
