/** Tools that create and delete posts. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { wordsOf } from "./postText.ts";
import { hashtagsIn, headline, named, notTooFast, postOf, Network } from "./state.ts";
import { hashtag, newPost, postId, visibility } from "./parameters.ts";

const tool = createToolFactory(Network);

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
    run(network, { text, visibility: seenBy = "public", comments = "open" }, { now, newId }) {
      const old = getOriginal(network);
      const same = Object.entries(old.posts).find(
        ([, it]) => it.author === old.user && it.status === "published" && it.text === text.trim(),
      );
      if (same)
        refuse(
          "conflict",
          `you have posted exactly this on ${same[1].at.slice(0, 10)} (${same[0]})`,
          "choose other words",
        );
      notTooFast(old, now);
      const post_id = newId("post");
      network.posts[post_id] = {
        author: network.user,
        at: now,
        text: text.trim(),
        visibility: seenBy,
        comments,
        status: "published",
        likes: [],
      };
      const reaches =
        seenBy === "only_me"
          ? 0
          : Object.values(old.follows).filter(
              it => it.followed === old.user && it.status === "following",
            ).length;
      return {
        post: headline(text.trim()),
        post_id,
        at: now,
        visibility: seenBy,
        hashtags: hashtagsIn(text),
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
    run(network, { post_id }) {
      const post = postOf(network, post_id);
      if (post.author !== network.user)
        refuse(
          "permission_denied",
          `${named(network, post_id)} belongs to ${network.profiles[post.author]!.name}, and you may only delete your own`,
          "choose a post of your own",
        );
      post.status = "deleted";
      const shares = Object.values(getOriginal(network).posts).filter(
        it => it.shared === post_id && it.status === "published",
      ).length;
      return {
        deleted: headline(wordsOf(getOriginal(network), post)),
        likes: post.likes.length,
        shares,
      };
    },
  }),
};
