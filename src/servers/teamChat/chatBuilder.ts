/** Builds members, channels and messages of a generated team chat state. */
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { formerColleague, type ChannelTexts } from "./generateTexts.ts";
import type { emojis, TeamChatState } from "./state.ts";

type Emoji = (typeof emojis)[number];

const slug = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");

/** Builds the state row by row. */
export class TeamChatBuilder {
  readonly state: TeamChatState;
  readonly cast: SharedCast;
  readonly #nextId: GeneratorContext["nextId"];
  readonly #random: GeneratorContext["random"];
  /** Member ids by role: `2` is the staff member with that index, `g0` the first guest. */
  readonly #ids = new Map<string, string>();

  constructor({ cast, nextId, random, size }: GeneratorContext) {
    this.cast = cast;
    this.#nextId = nextId;
    this.#random = random;
    const isFull = size === "full";
    this.state = {
      user: "",
      limits: isFull ? { owned: 8, guest: 2 } : { owned: 3, guest: 1 },
      members: {},
      channels: {},
      messages: {},
    };
    for (const i of isFull ? cast.staff.keys() : smallStaff) {
      const { name, email, job } = cast.staff[i]!;
      this.#addMember(String(i), {
        name,
        email,
        ...(i === 0 ? {} : { title: job }),
        role: adminIndexes.includes(i) ? "admin" : "member",
        status: i === 5 || i === 12 ? "away" : "active",
      });
    }
    this.state.user = this.#ids.get("0")!;
    for (const [i, it] of cast.clients.entries())
      if (isFull || i === 0)
        this.#addMember(`g${i}`, {
          name: it.contacts[0]!.name,
          email: it.contacts[0]!.email,
          title: `guest from ${it.name}`,
          role: "guest",
          status: "active",
        });
    this.#addMember("former", {
      name: formerColleague.name,
      email: `${formerColleague.user}@${cast.studio.domain}`,
      title: "designer",
      role: "member",
      status: "deactivated",
    });
  }

  #addMember(role: string, row: TeamChatState["members"][string]): void {
    const key = this.#nextId("mem");
    this.#ids.set(role, key);
    this.state.members[key] = row;
  }

  addChannel(texts: ChannelTexts): void {
    const { cast, state } = this;
    const channelId = this.#nextId("chn");
    const memberIds = [
      ...(texts.members ?? cast.staff.keys()),
      ...(texts.guests ?? []).map(it => `g${it}`),
    ].flatMap(it => this.#ids.get(String(it)) ?? []);
    const oldest = Math.max(...texts.conversation.map(it => Number(it.split("|")[1])));
    state.channels[channelId] = {
      name: this.#fillPlaceholders(texts.name),
      ...(texts.topic === undefined ? {} : { topic: this.#fillPlaceholders(texts.topic) }),
      kind: texts.kind ?? "public",
      owner: this.#ids.get(String(texts.owner))!,
      members: memberIds,
      created: dayAfterStart(-oldest - 90 - this.#random.integer(600)),
      ...(texts.announcements ? { announcements: texts.announcements } : {}),
      ...(texts.archived === undefined ? {} : { archived: dayAfterStart(-texts.archived) }),
    };
    let [root, last] = ["", ""];
    for (const line of texts.conversation) {
      const isReply = line.startsWith("+");
      const key = this.#addMessage(
        channelId,
        isReply ? line.slice(1) : line,
        isReply ? root : undefined,
        last,
      );
      last = state.messages[key]!.at;
      if (!isReply) root = key;
    }
  }

  #addMessage(channelId: string, line: string, root: string | undefined, after: string): string {
    const [role, days, text, reactionTexts = ""] = line.split("|") as [
      string,
      string,
      string,
      string?,
    ];
    const openingMinute = Number(days) === 0 ? 7 * 60 + 30 : 8 * 60 + 30;
    const at = (minutes: number) =>
      `${dayAfterStart(-Number(days))}T${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
    // an answer on the same day is later than what it answers
    const earliestMinute = after.startsWith(dayAfterStart(-Number(days)))
      ? Number(after.slice(11, 13)) * 60 + Number(after.slice(14)) + 4
      : openingMinute;
    const time =
      earliestMinute +
      this.#random.integer(Number(days) === 0 ? 35 : root === undefined ? 420 : 60);
    const mentions = [...text.matchAll(/@\{s(\d+)\}/g)].flatMap(it => this.#ids.get(it[1]!) ?? []);
    const reactions = Object.fromEntries(
      reactionTexts.split(" ").length < 2
        ? []
        : [...reactionTexts.matchAll(/(\w+) ([\d,]+)/g)].map(([, emoji, roles]) => [
            emoji as Emoji,
            roles!.split(",").flatMap(it => this.#ids.get(it) ?? []),
          ]),
    );
    const key = this.#nextId("msg");
    this.state.messages[key] = {
      channel_id: channelId,
      by: this.#ids.get(role)!,
      at: at(time),
      text: this.#fillPlaceholders(text),
      ...(root === undefined ? {} : { reply_to: root }),
      ...(mentions.length ? { mentions } : {}),
      ...(Object.keys(reactions).length ? { reactions } : {}),
    };
    return key;
  }

  /** Replaces the placeholders of a text with names of the cast. */
  #fillPlaceholders(text: string): string {
    const { cast } = this;
    return text.replaceAll(/\{(slug|client|place:|s)(\w+)\}/g, (_, kind: string, key: string) => {
      if (kind === "s") return cast.staff[Number(key)]!.firstName;
      if (kind === "place:") return cast.getPlace(key).name;
      const { name } = cast.clients[Number(key)]!;
      return kind === "slug" ? slug(name) : name;
    });
  }
}

/** Indexes of the staff members in the small fixture. */
export const smallStaff = [0, 1, 2, 3, 5, 6];

/** Indexes of the staff members who may write announcements. */
export const adminIndexes = [3, 6];
