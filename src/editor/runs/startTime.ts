/** Asks when a training starts while another one runs. */
import { formatList } from "../shared/text.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName } from "./runs.ts";

/** `afterStop`: the trainings that run are stopped, and it starts when they have ended. */
export type StartTime = "now" | "queued" | "afterStop";

/** When to start `name`. Asks only if trainings are active. */
export async function askStartTime(
  name: string,
  active: readonly RunMonitor[],
  { isQueued }: { readonly isQueued: boolean },
): Promise<StartTime> {
  if (active.length === 0) return "now";
  const names = formatList(active.map(getRunName));
  const [is, has] = active.length === 1 ? ["is", "has"] : ["are", "have"];
  const items = [
    {
      label: "Add to the queue",
      description: `${name} starts when ${names} ${has} ended`,
      time: "queued",
    },
    {
      label: `Stop ${names}`,
      description: `${name} starts then; ${names} can be resumed`,
      time: "afterStop",
    },
    {
      label: "Train at the same time",
      description: "they share the processor, so that each takes longer",
      time: "now",
    },
  ] as const;
  const { time } = await pickOne(isQueued ? items.slice(1) : items, {
    title: `Train ${name}`,
    text: `${names} ${is} being trained`,
  });
  return time;
}
