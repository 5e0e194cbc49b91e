/** Builds members, channels and messages of a generated team chat state. */
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";

import { formerColleague, type ChannelTexts } from "./generateTexts.ts";
import type { Chat } from "./server.ts";
import type { emojis } from "./state.ts";

type Emoji = (typeof emojis)[number];

const slug = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");

/** A world's chat while it is made. */
export class ChatBuilder {
  readonly state: Chat;
  readonly cast: SharedCast;
  readonly #id: GeneratorContext["nextId"];
  readonly #random: GeneratorContext["random"];
  /** Members by role: `2` of the staff, `g0` a guest. */
  readonly #ids = new Map<string, string>();

  constructor({ cast, nextId, random, size }: GeneratorContext) {
    this.cast = cast;
    this.#id = nextId;
    this.#random = random;
    const isFull = size === "full";
    this.state = {
      user: "",
      limits: isFull ? { owned: 8, guest: 2 } : { owned: 3, guest: 1 },
      members: {},
      channels: {},
      messages: {},
    };
    for (const i of isFull ? cast.staff.keys() : fewest) {
      const { name, email, job } = cast.staff[i]!;
      this.#member(String(i), {
        name,
        email,
        ...(i === 0 ? {} : { title: job }),
        role: admins.includes(i) ? "admin" : "member",
        status: i === 5 || i === 12 ? "away" : "active",
      });
    }
    this.state.user = this.#ids.get("0")!;
    for (const [i, it] of cast.clients.entries())
      if (isFull || i === 0)
        this.#member(`g${i}`, {
          name: it.contacts[0]!.name,
          email: it.contacts[0]!.email,
          title: `guest from ${it.name}`,
          role: "guest",
          status: "active",
        });
    this.#member("former", {
      name: formerColleague.name,
      email: `${formerColleague.user}@${cast.studio.domain}`,
      title: "designer",
      role: "member",
      status: "deactivated",
    });
  }

  #member(role: string, row: Chat["members"][string]): void {
    const key = this.#id("mem");
    this.#ids.set(role, key);
    this.state.members[key] = row;
  }

  channel(told: ChannelTexts): void {
    const { cast, state } = this;
    const channelId = this.#id("chn");
    const inside = [
      ...(told.members ?? cast.staff.keys()),
      ...(told.guests ?? []).map(it => `g${it}`),
    ].flatMap(it => this.#ids.get(String(it)) ?? []);
    const oldest = Math.max(...told.conversation.map(it => Number(it.split("|")[1])));
    state.channels[channelId] = {
      name: this.#told(told.name),
      ...(told.topic === undefined ? {} : { topic: this.#told(told.topic) }),
      kind: told.kind ?? "public",
      owner: this.#ids.get(String(told.owner))!,
      members: inside,
      created: dayAfterStart(-oldest - 90 - this.#random.integer(600)),
      ...(told.announcements ? { announcements: told.announcements } : {}),
      ...(told.archived === undefined ? {} : { archived: dayAfterStart(-told.archived) }),
    };
    let [root, last] = ["", ""];
    for (const line of told.conversation) {
      const isReply = line.startsWith("+");
      const key = this.#message(
        channelId,
        isReply ? line.slice(1) : line,
        isReply ? root : undefined,
        last,
      );
      last = state.messages[key]!.at;
      if (!isReply) root = key;
    }
  }

  #message(channelId: string, line: string, root: string | undefined, after: string): string {
    const [who, days, text, reacted = ""] = line.split("|") as [string, string, string, string?];
    const early = Number(days) === 0 ? 7 * 60 + 30 : 8 * 60 + 30;
    const at = (minutes: number) =>
      `${dayAfterStart(-Number(days))}T${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
    // whoever answers on the same day does so later
    const begun = after.startsWith(dayAfterStart(-Number(days)))
      ? Number(after.slice(11, 13)) * 60 + Number(after.slice(14)) + 4
      : early;
    const time =
      begun + this.#random.integer(Number(days) === 0 ? 35 : root === undefined ? 420 : 60);
    const mentions = [...text.matchAll(/@\{s(\d+)\}/g)].flatMap(it => this.#ids.get(it[1]!) ?? []);
    const reactions = Object.fromEntries(
      reacted.split(" ").length < 2
        ? []
        : [...reacted.matchAll(/(\w+) ([\d,]+)/g)].map(([, emoji, roles]) => [
            emoji as Emoji,
            roles!.split(",").flatMap(it => this.#ids.get(it) ?? []),
          ]),
    );
    const key = this.#id("msg");
    this.state.messages[key] = {
      channel_id: channelId,
      by: this.#ids.get(who)!,
      at: at(time),
      text: this.#told(text),
      ...(root === undefined ? {} : { reply_to: root }),
      ...(mentions.length ? { mentions } : {}),
      ...(Object.keys(reactions).length ? { reactions } : {}),
    };
    return key;
  }

  /** A told text with the names of this world. */
  #told(text: string): string {
    const { cast } = this;
    return text.replaceAll(/\{(slug|client|place:|s)(\w+)\}/g, (_, kind: string, which: string) => {
      if (kind === "s") return cast.staff[Number(which)]!.firstName;
      if (kind === "place:") return cast.getPlace(which).name;
      const { name } = cast.clients[Number(which)]!;
      return kind === "slug" ? slug(name) : name;
    });
  }
}

/** Of the studio, those who are in the small world's channels. */
export const fewest = [0, 1, 2, 3, 5, 6];

/** Who may write announcements beside their owner. */
export const admins = [3, 6];
