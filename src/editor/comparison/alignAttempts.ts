/**
 * Aligns the calls of several attempts in rows: calls of one tool that come at the same place of
 * their attempts share a row, preferably those that serve the same goal.
 */

export interface AlignedItem {
  /** Only items of one name share a row. */
  readonly name: string;
  readonly goal?: number;
  readonly text: string;
}

/** The position of an item in each list, or null for a list without an item in this row. */
export type AlignedRow = readonly (number | null)[];

/**
 * Progressive alignment: each list is aligned with the rows of the lists before it, the longest
 * list first. Each list's items keep their order.
 */
export function alignAttempts(lists: readonly (readonly AlignedItem[])[]): readonly AlignedRow[] {
  const byLength = [...lists.keys()].toSorted((a, b) => lists[b]!.length - lists[a]!.length);
  let rows: (number | null)[][] = [];
  for (const list of byLength) {
    const matches = alignList(rows, lists, lists[list]!);
    rows = mergeRows(rows, matches, { list, lists: lists.length });
  }
  return rows;
}

/** The row of each item of a list, or undefined for an item that needs a row of its own. */
function alignList(
  rows: readonly AlignedRow[],
  lists: readonly (readonly AlignedItem[])[],
  items: readonly AlignedItem[],
): readonly (number | undefined)[] {
  const members = rows.map(row =>
    row.flatMap((it, list) => (it === null ? [] : lists[list]![it]!)),
  );
  const score = (row: number, item: number) =>
    Math.max(0, ...members[row]!.map(it => scorePair(it, items[item]!)));
  // best[r][i] is the highest score of the rows from r and the items from i on
  const best = Array.from({ length: rows.length + 1 }, () =>
    Array.from<number>({ length: items.length + 1 }).fill(0),
  );
  for (let r = rows.length - 1; r >= 0; r--)
    for (let i = items.length - 1; i >= 0; i--) {
      const own = score(r, i);
      best[r]![i] = Math.max(
        best[r + 1]![i]!,
        best[r]![i + 1]!,
        own > 0 ? own + best[r + 1]![i + 1]! : 0,
      );
    }
  const matches: (number | undefined)[] = items.map(() => undefined);
  for (let r = 0, i = 0; r < rows.length && i < items.length;) {
    const own = score(r, i);
    if (own > 0 && best[r]![i] === own + best[r + 1]![i + 1]!) matches[i++] = r++;
    else if (best[r]![i] === best[r + 1]![i]) r++;
    else i++;
  }
  return matches;
}

/** How well two items fit in one row; 0 for items that cannot share one. */
function scorePair(a: AlignedItem, b: AlignedItem): number {
  if (a.name !== b.name) return 0;
  return 4 + (a.goal !== undefined && a.goal === b.goal ? 2 : 0) + (a.text === b.text ? 1 : 0);
}

/** The rows with the items of one more list; unmatched items get rows before the next match. */
function mergeRows(
  rows: readonly (readonly (number | null)[])[],
  matches: readonly (number | undefined)[],
  { list, lists }: { readonly list: number; readonly lists: number },
): (number | null)[][] {
  const merged: (number | null)[][] = [];
  let next = 0;
  const takeUntil = (end: number) => {
    for (; next < end; next++) merged.push([...rows[next]!]);
  };
  for (const [item, row] of matches.entries()) {
    if (row === undefined) {
      const own = Array.from<number | null>({ length: lists }).fill(null);
      own[list] = item;
      merged.push(own);
      continue;
    }
    takeUntil(row);
    const shared = [...rows[row]!];
    shared[list] = item;
    merged.push(shared);
    next = row + 1;
  }
  takeUntil(rows.length);
  return merged;
}
