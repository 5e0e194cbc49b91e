/** Tools that create and delete posts. */
import { z } from "zod";
import { minute, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import { hashtag, postLabel } from "./parameters.ts";
import {
  countFollowers,
  countShares,
  formatPost,
  getHeadline,
  getVisibleText,
  listHashtags,
  posts,
  requirePostRate,
  SocialMediaState,
  visibilities,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(SocialMediaState);

const newRow = posts.fields({
  ...postLabel,
  at: minute(),
  visibility: z.string(),
  hashtags: [z.array(hashtag()), it => listHashtags(it.text)],
});

export const postCommands = {
  create_post: tool({
    effect: "write",
    summary:
      "Write a post on the user's profile, for everybody unless said otherwise. At most four posts an hour.",
    input: {
      text: phrase(3, 280)
        .meta({ examples: vocabulary.posts })
        .describe("The words, with #hashtags where wanted"),
      visibility: z.enum(visibilities).optional().describe("Who sees it: public if not given"),
      comments: z
        .enum(["open", "closed"])
        .optional()
        .describe("Whether others may comment: open if not given"),
    },
    returns: {
      ...getSchemas(newRow),
      reaches: z.int().describe("Followers in whose feed it comes"),
    },
    run(state, { text, visibility = "public", comments = "open" }, { now, newId }) {
      const original = getOriginal(state);
      const duplicate = Object.entries(original.posts).find(
        ([, it]) =>
          it.author === original.user && it.status === "published" && it.text === text.trim(),
      );
      if (duplicate)
        refuse(
          "conflict",
          `you have posted exactly this on ${duplicate[1].at.slice(0, 10)} (${duplicate[0]})`,
          "choose other words",
        );
      requirePostRate(original, now);
      const post_id = newId("post");
      state.posts[post_id] = {
        author: state.user,
        at: now,
        text: text.trim(),
        visibility,
        comments,
        status: "published",
        likes: [],
      };
      return {
        ...posts.show(newRow, state, post_id, now),
        reaches: visibility === "only_me" ? 0 : countFollowers(state, state.user),
      };
    },
  }),
  delete_post: tool({
    effect: "write",
    summary:
      "Take down a post of the user's own, with its likes and comments; shares of it no longer show it.",
    destructive: true,
    input: { post_id: posts.id },
    returns: {
      deleted: z.string().describe("The words by which it was known"),
      likes: z.int(),
      shares: z.int().describe("Shares by others that no longer show it"),
    },
    run(state, { post_id }) {
      const post = posts.find(state, post_id);
      if (post.author !== state.user)
        refuse(
          "permission_denied",
          `${formatPost(state, post_id)} belongs to ${state.profiles[post.author]!.name}, and you may only delete your own`,
          "choose a post of your own",
        );
      post.status = "deleted";
      return {
        deleted: getHeadline(getVisibleText(getOriginal(state), post)),
        likes: post.likes.length,
        shares: countShares(state, post_id),
      };
    },
  }),
};
