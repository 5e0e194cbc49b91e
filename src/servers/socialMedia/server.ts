/** A social network as one of its members sees it: 15 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { answering, reading, writing } from "./posts.ts";
import { circles, profiles } from "./profiles.ts";
import { Network } from "./state.ts";

export const server = defineServer({
  name: "social_media",
  category: "Social/Comm.",
  summary: "profiles, follows and requests, posts with likes, comments and shares, the feed",
  schema: Network,
  tools: { ...profiles, ...circles, ...writing, ...reading, ...answering },
});

export type { Network } from "./state.ts";
