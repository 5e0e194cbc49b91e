/** Builds profiles, follows and posts of a generated social network. */
import type { Random } from "../../environment/random.ts";
import type { Person } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { bios } from "./generateValues.ts";
import type { SocialMediaState } from "./state.ts";

type Profile = SocialMediaState["profiles"][string];

export type Post = SocialMediaState["posts"][string];

export const createHandle = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** Roles of the places that have profiles. The museum and the market hall belong to companies. */
export const postingPlaces = [
  "cafe",
  "bakery",
  "books",
  "florist",
  "gym",
  "cinema",
  "concert",
  "pottery",
];

/** Builds the state row by row. */
export class SocialMediaBuilder {
  readonly state: SocialMediaState;
  readonly random: Random;
  readonly nextId: GeneratorContext["nextId"];

  constructor({ random, nextId }: GeneratorContext) {
    this.random = random;
    this.nextId = nextId;
    this.state = { user: "", profiles: {}, follows: {}, posts: {}, comments: {} };
  }

  addProfile(
    name: string,
    handle: string,
    kind: Profile["kind"],
    more: Partial<Profile> = {},
  ): string {
    const profileId = this.nextId("pro");
    this.state.profiles[profileId] = {
      name,
      handle,
      kind,
      private: false,
      joined: dayAfterStart(-200 - this.random.integer(1800)),
      ...more,
    };
    return profileId;
  }

  addPerson({ name, userName }: Person, more: Partial<Profile> = {}): string {
    return this.addProfile(name, userName, "person", {
      ...(this.random.boolean(0.4) ? { bio: this.random.pick(bios) } : {}),
      ...more,
    });
  }

  addFollow(
    follower: string,
    followed: string,
    status: "following" | "requested" = "following",
  ): void {
    if (
      follower === followed ||
      Object.values(this.state.follows).some(
        it => it.follower === follower && it.followed === followed,
      )
    )
      return;
    const since = dayAfterStart(
      status === "requested" ? -1 - this.random.integer(9) : -10 - this.random.integer(400),
    );
    this.state.follows[this.nextId("fol")] = { follower, followed, status, since };
  }

  addPost(author: string, text: string, at: string, more: Partial<Post> = {}): string {
    const postId = this.nextId("post");
    this.state.posts[postId] = {
      author,
      at,
      text,
      visibility: "public",
      comments: "open",
      status: "published",
      likes: [],
      ...more,
    };
    return postId;
  }

  addComment(postId: string, by: string, at: string, text: string): void {
    this.state.comments[this.nextId("cmt")] = { post_id: postId, by, at, text };
  }

  /** A random minute between 08:00 and 22:00, `days` days ago. */
  createTimeDaysAgo(days: number): string {
    return `${dayAfterStart(-days)}T${String(8 + this.random.integer(14)).padStart(2, "0")}:${String(5 * this.random.integer(12)).padStart(2, "0")}`;
  }
}

export interface ProfileGroups {
  readonly ana: string;
  readonly colleagues: readonly string[];
  readonly friends: readonly string[];
  readonly businesses: readonly string[];
  readonly creators: readonly string[];
}
