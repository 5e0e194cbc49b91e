/** Parameters and results that several tools share. */
import { z } from "zod";
import { id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { getPostHeadline, visibilities, type SocialMediaState, type Post } from "./state.ts";

export const profileId = id("profile").describe(
  "Profile id, as social_media_search_users gives it",
);
export const postId = id("post").describe(
  "Post id, as social_media_get_feed or social_media_search_posts gives it",
);
/** A hashtag is identified by its text. */
export const hashtag = () => label("hashtag").max(60);
export const limit = rowLimit(10);
export const visibility = z.enum(visibilities).optional();

export const newPost = z
  .string()
  .min(3)
  .max(280)
  .regex(/\S/)
  .meta({
    examples: [
      "First warm evening on the terrace. #spring",
      "New posters are up at the theatre. #posters",
      "Does anybody have a spare easel? #help",
      "Three days of proofs, one tiny typo. #print",
      "The studio smells of fresh paint. #studio",
      "Walked to the lighthouse and back. #outdoors",
      "Our new logo animation is finished. #motion",
      "Reading on the ferry all day. #books",
      "Looking for a letterpress workshop. #letterpress",
      "Fresh type samples came by mail. #typography",
      "Homemade bread, second try. #baking",
      "Colour tests for the spring catalogue. #colour",
      "Rain, coffee, wireframes. #design",
      "The harbour was golden this morning. #photo",
    ],
  });
export const newComment = z
  .string()
  .min(1)
  .max(280)
  .regex(/\S/)
  .meta({
    examples: [
      "This looks wonderful!",
      "Where can I get one?",
      "Count me in.",
      "So well done, congratulations!",
      "I was there too, what a day.",
      "Please show more of this.",
      "The colours are perfect.",
      "Thank you for sharing this.",
      "Which paper is that?",
      "Made my morning.",
    ],
  });

export const postRow = {
  post: label("post"),
  post_id: id("post"),
  author: label("profile"),
  author_id: id("profile"),
  at: minute(),
};

/** The row of a post in lists. */
export const createPostRow = (state: SocialMediaState, postId: string, it: Post) => ({
  post: getPostHeadline(state, it),
  post_id: postId,
  author: state.profiles[it.author]!.name,
  author_id: it.author,
  at: it.at,
});
