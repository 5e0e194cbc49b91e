/** A social network as one of its members sees it: 15 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { responseTools } from "./responseTools.ts";
import { postQueries } from "./postQueries.ts";
import { postCommands } from "./postCommands.ts";
import { followListTools, followTools } from "./followTools.ts";
import { profileTools } from "./profileTools.ts";
import { Network } from "./state.ts";

export const server = defineServer({
  name: "social_media",
  category: "Social/Comm.",
  summary: "profiles, follows and requests, posts with likes, comments and shares, the feed",
  schema: Network,
  tools: {
    ...profileTools,
    ...followTools,
    ...followListTools,
    ...postCommands,
    ...postQueries,
    ...responseTools,
  },
});

export type { Network } from "./state.ts";
