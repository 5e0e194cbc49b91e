/** Builds the generated state of the mailbox. */
import { folders, type EmailState } from "./state.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { ownLabels } from "./threadTemplates.ts";
import type { DraftTemplate } from "./draftTemplates.ts";
import type { ThreadTemplate } from "./threadTemplate.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { findCorrespondent, fillTemplate } from "./correspondents.ts";

/** Builds the generated state of the mailbox. */
export class MailboxBuilder {
  readonly state: EmailState;
  readonly #context: GeneratorContext;
  readonly #addressIds = new Map<string, string>();
  readonly #labelIds = new Map<string, string>();

  constructor(context: GeneratorContext) {
    this.#context = context;
    const isFull = context.size === "full";
    this.state = {
      user: "",
      limits: isFull
        ? { daily: 20, recipients: 12, drafts: 12 }
        : { daily: 4, recipients: 4, drafts: 3 },
      addresses: {},
      labels: {},
      threads: {},
      messages: {},
      drafts: {},
    };
    this.state.user = this.addAddress("staff0");
    for (const name of folders) this.#addLabel(name, "system");
    for (const name of isFull ? ownLabels : ownLabels.slice(0, 5)) this.#addLabel(name, "own");
  }

  /** Adds the address of a role, unless it is there already, and returns its id. */
  addAddress(role: string): string {
    const existingId = this.#addressIds.get(role);
    if (existingId) return existingId;
    const { name, email, isNoReply, hasLeft } = findCorrespondent(this.#context.cast, role);
    const addressId = this.#context.nextId("adr");
    this.#addressIds.set(role, addressId);
    this.state.addresses[addressId] = {
      name,
      email,
      ...(hasLeft ? { bounces: `${dayAfterStart(-17)}T08:00` } : {}),
      ...(isNoReply ? { no_reply: true as const } : {}),
    };
    return addressId;
  }

  #addLabel(name: string, kind: "system" | "own"): void {
    const labelId = this.#context.nextId("lab");
    this.#labelIds.set(name, labelId);
    this.state.labels[labelId] = { name, kind };
  }

  addThread(template: ThreadTemplate): void {
    const { cast, nextId } = this.#context;
    const correspondent = findCorrespondent(cast, template.with);
    const threadId = nextId("thr");
    this.state.threads[threadId] = {
      subject: fillTemplate(template.subject, cast, correspondent),
      folder: template.folder ?? "Inbox",
      labels: (template.labels ?? []).map(name => this.#labelIds.get(name)!),
    };
    const times = this.#createTimes(template);
    for (const [i, line] of template.lines.entries()) {
      const [, mark, text, files] = /^([<>]) (.*?)(?: \[([^\]]+)\])?$/.exec(line)!;
      const correspondentId = this.addAddress(template.with);
      const cc = (template.cc ?? []).map(it => this.addAddress(it));
      this.state.messages[nextId("msg")] = {
        thread_id: threadId,
        from: mark === ">" ? this.state.user : correspondentId,
        to: [mark === ">" ? correspondentId : this.state.user],
        ...(cc.length ? { cc } : {}),
        at: times[i]!,
        text: fillTemplate(text!, cast, correspondent),
        ...(files ? { attachments: files.split(", ") } : {}),
        ...(template.unread && i === template.lines.length - 1 ? { unread: true as const } : {}),
      };
    }
  }

  addDraft({ subject, to, text, days, attachments }: DraftTemplate): void {
    this.state.drafts[this.#context.nextId("drf")] = {
      to: to.map(it => this.addAddress(it)),
      subject,
      text,
      ...(attachments ? { attachments: [...attachments] } : {}),
      saved: this.#createTime(days),
    };
  }

  /** The times of a thread's messages, the oldest first, one to two days apart. */
  #createTimes({ days, lines }: ThreadTemplate): string[] {
    const times: string[] = [];
    let daysAgo = days;
    for (const _ of lines) {
      times.unshift(this.#createTime(daysAgo));
      daysAgo += 1 + this.#context.random.integer(2);
    }
    return times;
  }

  /** A time some days ago; a time of today is not later than now. */
  #createTime(daysAgo: number): string {
    const { random } = this.#context;
    const hour = daysAgo === 0 ? 7 + random.integer(2) : 8 + random.integer(11);
    const minute = 5 * random.integer(12);
    return `${dayAfterStart(-daysAgo)}T${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  }
}
