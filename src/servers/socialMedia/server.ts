/** The social media server: a social network, as one member sees it. */
import { defineServer } from "../../environment/server.ts";
import { invariants } from "./invariants.ts";
import { responseTools } from "./responseTools.ts";
import { postQueries } from "./postQueries.ts";
import { postCommands } from "./postCommands.ts";
import { followTools } from "./followTools.ts";
import { profileTools } from "./profileTools.ts";
import { SocialMediaState, references } from "./state.ts";

export const server = defineServer({
  name: "social_media",
  category: "Social/Comm.",
  summary: "profiles, follows and requests, posts with likes, comments and shares, the feed",
  schema: SocialMediaState,
  references,
  invariants,
  tools: {
    ...profileTools,
    ...followTools,
    ...postCommands,
    ...postQueries,
    ...responseTools,
  },
});
