/** Tools that like, comment on and share posts. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { headline, named, notTooFast, postOf, Network } from "./state.ts";
import { newComment, postId, rowOf } from "./parameters.ts";

const tool = createToolFactory(Network);

export const responseTools = {
  like_post: tool({
    effect: "write",
    summary: "Like a post that the user may see.",
    idempotent: true,
    input: { post_id: postId },
    returns: { post: label("post"), post_id: id("post"), likes: z.int() },
    run(network, { post_id }) {
      const post = postOf(network, post_id);
      if (post.likes.includes(network.user))
        refuse(
          "conflict",
          `you already like ${named(network, post_id)} by ${network.profiles[post.author]!.name}`,
        );
      post.likes = [...post.likes, network.user];
      return {
        post: rowOf(getOriginal(network), post_id, post).post,
        post_id,
        likes: post.likes.length,
      };
    },
  }),
  comment_on_post: tool({
    effect: "write",
    summary: "Write a comment under a post, if its author lets people comment.",
    input: { post_id: postId, text: newComment.describe("What to say") },
    returns: {
      post: label("post"),
      post_id: id("post"),
      comment_id: id("comment"),
      comments: z.int(),
    },
    run(network, { post_id, text }, { now, newId }) {
      const post = postOf(network, post_id);
      if (post.comments === "closed")
        refuse(
          "precondition_failed",
          `${network.profiles[post.author]!.name} has closed the comments under ${named(network, post_id)}`,
          "social_media_like_post likes it instead",
        );
      const others = Object.values(getOriginal(network).comments).filter(
        it => it.post_id === post_id,
      );
      if (others.some(it => it.by === network.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this under ${named(network, post_id)} before`);
      const comment_id = newId("cmt");
      network.comments[comment_id] = { post_id, by: network.user, at: now, text: text.trim() };
      return {
        post: rowOf(getOriginal(network), post_id, post).post,
        post_id,
        comment_id,
        comments: others.length + 1,
      };
    },
  }),
  share_post: tool({
    effect: "write",
    summary:
      "Pass on somebody else's public post to the user's followers, with words of their own if wanted. It counts as a post.",
    input: { post_id: postId, text: newComment.optional().describe("What to say about it") },
    returns: {
      post: label("post"),
      post_id: id("post").describe("Of the share"),
      at: minute(),
      passes_on: z
        .object({ post: label("post"), post_id: id("post"), shares: z.int() })
        .describe("The post itself"),
    },
    run(network, { post_id, text }, { now, newId }) {
      const { author, visibility: seenBy, shared } = postOf(network, post_id);
      const { name, private: isPrivate } = network.profiles[author]!;
      if (author === network.user)
        refuse(
          "precondition_failed",
          `${named(network, post_id)} is your own`,
          "choose a post of somebody else",
        );
      if (shared !== undefined)
        refuse(
          "precondition_failed",
          `${named(network, post_id)} only passes on another`,
          `share ${shared} itself`,
        );
      if (isPrivate || seenBy !== "public")
        refuse(
          "permission_denied",
          `${named(network, post_id)} is for the followers of ${name} alone and cannot be shared`,
          "choose a public post",
        );
      const old = getOriginal(network);
      const own = Object.entries(old.posts).find(
        ([, it]) => it.author === old.user && it.shared === post_id && it.status === "published",
      );
      if (own)
        refuse(
          "conflict",
          `you have shared ${named(network, post_id)} on ${own[1].at.slice(0, 10)} (${own[0]})`,
        );
      notTooFast(old, now);
      const shareId = newId("post");
      network.posts[shareId] = {
        author: network.user,
        at: now,
        text: text?.trim() ?? "",
        visibility: "public",
        comments: "open",
        status: "published",
        likes: [],
        shared: post_id,
      };
      const original = findEntity(old.posts, post_id, "post");
      return {
        post: headline(text?.trim() || original.text),
        post_id: shareId,
        at: now,
        passes_on: {
          post: headline(original.text),
          post_id,
          shares:
            Object.values(old.posts).filter(
              it => it.shared === post_id && it.status === "published",
            ).length + 1,
        },
      };
    },
  }),
};
