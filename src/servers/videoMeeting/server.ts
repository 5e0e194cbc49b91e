/** Video meetings of one person among colleagues and clients: 10 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { planning } from "./planning.ts";
import { running } from "./running.ts";
import { Rooms } from "./state.ts";

export type { Rooms } from "./state.ts";

export const server = defineServer({
  name: "video_meeting",
  category: "Lifestyle",
  summary:
    "meetings with hosts and guests, their start and end, plans and their limits, recordings",
  schema: Rooms,
  tools: { ...planning, ...running },
});
