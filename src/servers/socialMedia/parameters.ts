/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { id, label, minute, phrase } from "../../environment/fieldSchemas.ts";
import { getPostHeadline, posts, profiles } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** A hashtag is identified by its text. */
export const hashtag = () => label("hashtag").max(60);
export const newComment = phrase(1, 280).meta({ examples: vocabulary.comments });

export const profileRow = profiles.fields({
  name: label("profile"),
  profile_id: profiles.idField,
  handle: z.string(),
});
export const postLabel = posts.fields({
  post: [label("post"), (it, { world }) => getPostHeadline(world, it)],
  post_id: posts.idField,
});
export const postRow = posts.fields({
  ...postLabel,
  author: [label("profile"), (it, { world }) => world.profiles[it.author]!.name],
  author_id: [id("profile"), it => it.author],
  at: minute(),
});
