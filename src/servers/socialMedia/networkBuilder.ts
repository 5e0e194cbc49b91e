/** Builds profiles, follows and posts of a generated social network. */
import type { Random } from "../../environment/random.ts";
import type { Person } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { bios } from "./generateValues.ts";
import type { Network } from "./server.ts";

type Profile = Network["profiles"][string];

export type Post = Network["posts"][string];

export const plain = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** Places that post themselves; the museum and the market hall belong to firms. */
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

/** A network while it is made. */
export class NetworkBuilder {
  readonly state: Network;
  readonly random: Random;
  readonly id: GeneratorContext["nextId"];

  constructor({ random, nextId }: GeneratorContext) {
    this.random = random;
    this.id = nextId;
    this.state = { user: "", profiles: {}, follows: {}, posts: {}, comments: {} };
  }

  profile(
    name: string,
    handle: string,
    kind: Profile["kind"],
    more: Partial<Profile> = {},
  ): string {
    const profileId = this.id("pro");
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

  person({ name, userName }: Person, more: Partial<Profile> = {}): string {
    return this.profile(name, userName, "person", {
      ...(this.random.boolean(0.4) ? { bio: this.random.pick(bios) } : {}),
      ...more,
    });
  }

  follow(
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
    this.state.follows[this.id("fol")] = { follower, followed, status, since };
  }

  post(author: string, text: string, at: string, more: Partial<Post> = {}): string {
    const postId = this.id("post");
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

  comment(postId: string, by: string, at: string, text: string): void {
    this.state.comments[this.id("cmt")] = { post_id: postId, by, at, text };
  }

  /** A minute so many days ago. */
  ago(days: number): string {
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
