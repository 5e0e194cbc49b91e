/** Finds tasks whose servers or fixtures have changed since they were made. */
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { findChange } from "../trajectory/replay.ts";
import type { Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

/** Counts changed tasks, and notes the first one of each change. */
export class TaskChanges {
  readonly #context: Pick<AppContext, "catalog" | "printNote">;
  readonly #counts = new Map<string, { tasks: number; remedy: string }>();
  count = 0;

  constructor(context: Pick<AppContext, "catalog" | "printNote">) {
    this.#context = context;
  }

  /** Returns why a task cannot be opened at all, and undefined for all others. */
  add({ id, servers, catalog }: Task): string | undefined {
    if (servers.length === 0) return undefined;
    try {
      const { what, remedy } = findChange(this.#context.catalog, {
        servers: [...servers],
        catalog,
      });
      if (what === undefined) return undefined;
      this.count++;
      const counted = this.#counts.get(what) ?? { tasks: 0, remedy };
      this.#counts.set(what, counted);
      if (counted.tasks++ === 0) this.#context.printNote(`${escapeInvisible(id)}: ${what}`);
      return undefined;
    } catch (error) {
      if (error instanceof UserError) return error.what;
      throw error;
    }
  }

  /** A line for each change; `consequence` says what is done with these tasks: "they are …". */
  format(consequence: string): string[] {
    return [...this.#counts].map(
      ([what, { tasks, remedy }]) =>
        `${formatTaskCount(tasks)}: ${what}, and ${consequence}: ${remedy}`,
    );
  }
}

export const formatTaskCount = (n: number): string => `${n} ${n === 1 ? "task" : "tasks"}`;
