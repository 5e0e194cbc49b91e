/** Asks by which field the tasks of the Tasks view are grouped. */
import { pickOne } from "../shared/quickInput.ts";
import type { Grouping } from "./taskGroups.ts";

const items: readonly { readonly label: string; readonly grouping: Grouping; detail: string }[] = [
  { label: "No groups", grouping: "none", detail: "The tasks in the order of their file" },
  { label: "Server", grouping: "server", detail: "A task on several servers is in several groups" },
  { label: "Kind", grouping: "kind", detail: "Normal, or what is unusual about the task" },
  { label: "Split", grouping: "split", detail: "Training or one of the held-out splits" },
  {
    label: "Success",
    grouping: "success",
    detail: "Whether the teacher succeeds; all tasks of a file are scored once",
  },
];

export async function promptForGrouping(current: Grouping): Promise<Grouping> {
  const { grouping } = await pickOne(
    items.map(it => (it.grouping === current ? { ...it, description: "current" } : it)),
    { title: "Group Tasks", text: "By what to group the tasks" },
  );
  return grouping;
}
