/** Tools that like, comment on and share posts. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import { newComment, postLabel } from "./parameters.ts";
import {
  countShares,
  formatPost,
  getHeadline,
  posts,
  requirePostRate,
  SocialMediaState,
} from "./state.ts";

const tool = createToolFactory(SocialMediaState);

const likedRow = posts.fields({ ...postLabel, likes: [z.int(), it => it.likes.length] });

export const responseTools = {
  like_post: tool({
    effect: "write",
    summary: "Like a post that the user may see.",
    idempotent: true,
    input: { post_id: posts.id },
    returns: getSchemas(likedRow),
    run(state, { post_id }, { now }) {
      const post = posts.find(state, post_id);
      if (post.likes.includes(state.user))
        refuse(
          "conflict",
          `you already like ${formatPost(state, post_id)} by ${state.profiles[post.author]!.name}`,
        );
      post.likes = [...post.likes, state.user];
      return posts.show(likedRow, state, post_id, now);
    },
  }),
  comment_on_post: tool({
    effect: "write",
    summary: "Write a comment under a post, if its author lets people comment.",
    input: { post_id: posts.id, text: newComment.describe("What to say") },
    returns: { ...getSchemas(postLabel), comment_id: id("comment"), comments: z.int() },
    run(state, { post_id, text }, { now, newId }) {
      const post = posts.find(state, post_id);
      if (post.comments === "closed")
        refuse(
          "precondition_failed",
          `${state.profiles[post.author]!.name} has closed the comments under ${formatPost(state, post_id)}`,
          "social_media_like_post likes it instead",
        );
      const comments = Object.values(getOriginal(state).comments).filter(
        it => it.post_id === post_id,
      );
      if (comments.some(it => it.by === state.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this under ${formatPost(state, post_id)} before`);
      const comment_id = newId("cmt");
      state.comments[comment_id] = { post_id, by: state.user, at: now, text: text.trim() };
      return {
        ...posts.show(postLabel, state, post_id, now),
        comment_id,
        comments: comments.length + 1,
      };
    },
  }),
  share_post: tool({
    effect: "write",
    summary:
      "Pass on somebody else's public post to the user's followers, with words of their own if wanted. It counts as a post.",
    input: { post_id: posts.id, text: newComment.optional().describe("What to say about it") },
    returns: {
      post: label("post"),
      post_id: id("post").describe("Of the share"),
      at: minute(),
      passes_on: z
        .object({ post: label("post"), post_id: id("post"), shares: z.int() })
        .describe("The post itself"),
    },
    run(state, { post_id, text }, { now, newId }) {
      const { author, visibility, shared } = posts.find(state, post_id);
      const { name, private: isPrivate } = state.profiles[author]!;
      if (author === state.user)
        refuse(
          "precondition_failed",
          `${formatPost(state, post_id)} is your own`,
          "choose a post of somebody else",
        );
      if (shared !== undefined)
        refuse(
          "precondition_failed",
          `${formatPost(state, post_id)} only passes on another`,
          `share ${shared} itself`,
        );
      if (isPrivate || visibility !== "public")
        refuse(
          "permission_denied",
          `${formatPost(state, post_id)} is for the followers of ${name} alone and cannot be shared`,
          "choose a public post",
        );
      const original = getOriginal(state);
      const existing = Object.entries(original.posts).find(
        ([, it]) =>
          it.author === original.user && it.shared === post_id && it.status === "published",
      );
      if (existing)
        refuse(
          "conflict",
          `you have shared ${formatPost(state, post_id)} on ${existing[1].at.slice(0, 10)} (${existing[0]})`,
        );
      requirePostRate(original, now);
      const shareId = newId("post");
      state.posts[shareId] = {
        author: state.user,
        at: now,
        text: text?.trim() ?? "",
        visibility: "public",
        comments: "open",
        status: "published",
        likes: [],
        shared: post_id,
      };
      const originalPost = original.posts[post_id]!;
      return {
        post: getHeadline(text?.trim() || originalPost.text),
        post_id: shareId,
        at: now,
        passes_on: {
          post: getHeadline(originalPost.text),
          post_id,
          shares: countShares(state, post_id) + 1,
        },
      };
    },
  }),
};
