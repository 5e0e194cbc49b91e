/** Tools that create and delete posts. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getFullText, isOriginalVisible } from "./postText.ts";
import {
  listHashtags,
  getHeadline,
  formatPost,
  requirePostRate,
  findPost,
  SocialMediaState,
} from "./state.ts";
import { hashtag, newPost, postId, visibility } from "./parameters.ts";

const tool = createToolFactory(SocialMediaState);

export const postCommands = {
  create_post: tool({
    effect: "write",
    summary:
      "Write a post on the user's profile, for everybody unless said otherwise. At most four posts an hour.",
    input: {
      text: newPost.describe("The words, with #hashtags where wanted"),
      visibility: visibility.describe("Who sees it: public if not given"),
      comments: z
        .enum(["open", "closed"])
        .optional()
        .describe("Whether others may comment: open if not given"),
    },
    returns: {
      post: label("post"),
      post_id: id("post"),
      at: minute(),
      visibility: z.string(),
      hashtags: z.array(hashtag()),
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
      const reaches =
        visibility === "only_me"
          ? 0
          : Object.values(original.follows).filter(
              it => it.followed === original.user && it.status === "following",
            ).length;
      return {
        post: getHeadline(text.trim()),
        post_id,
        at: now,
        visibility,
        hashtags: listHashtags(text),
        reaches,
      };
    },
  }),
  delete_post: tool({
    effect: "write",
    summary:
      "Take down a post of the user's own, with its likes and comments; shares of it no longer show it.",
    destructive: true,
    input: { post_id: postId },
    returns: {
      deleted: z.string().describe("The words by which it was known"),
      likes: z.int(),
      shares: z.int().describe("Shares by others that no longer show it"),
    },
    run(state, { post_id }) {
      const post = findPost(state, post_id);
      if (post.author !== state.user)
        refuse(
          "permission_denied",
          `${formatPost(state, post_id)} belongs to ${state.profiles[post.author]!.name}, and you may only delete your own`,
          "choose a post of your own",
        );
      post.status = "deleted";
      const original = getOriginal(state);
      const shares = Object.values(original.posts).filter(
        it => it.shared === post_id && it.status === "published",
      ).length;
      return {
        deleted: getHeadline(
          isOriginalVisible(original, post) ? getFullText(original, post) : post.text,
        ),
        likes: post.likes.length,
        shares,
      };
    },
  }),
};
