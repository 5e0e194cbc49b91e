/** Suggests a valid name for a misspelled one. */

/**
 * The valid name that is nearest to a misspelled one, as the end of a message: ` (did you mean
 * train?)`. Empty if none is near.
 */
export function suggestName(name: string, validNames: readonly string[]): string {
  const [nearest] = validNames
    .map(it => ({ name: it, distance: measureDistance(name, it) }))
    .filter(it => isNear(name, it.name, it.distance))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest ? ` (did you mean ${nearest.name}?)` : "";
}

/** At most two edits, fewer in short names; or the beginning of a longer name. */
function isNear(name: string, validName: string, distance: number): boolean {
  const letters = name.replace(/^--/, "").length;
  return distance <= Math.min(2, letters / 2) || (letters >= 3 && validName.startsWith(name));
}

/** The edits from one text to another: insert, delete, replace a letter, or swap two neighbors. */
function measureDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + cost,
        isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
    rows[i] = row;
  }
  return rows[a.length]![b.length]!;
}
