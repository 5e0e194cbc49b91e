/** The rejected attempts: reasons with their counts, and the attempts of the selected reason. */
import type {
  RejectedItem,
  RejectedSelection,
  SynthesisPage,
  Tally,
} from "../../src/protocol/synthesisPage.ts";
import { createLink, element } from "../element.ts";
import type { Channel } from "../channel.ts";
import { escapeInvisible, formatInteger } from "../text.ts";

export class RejectionList {
  readonly element = element("section", { class: "rejections", "aria-label": "Rejected" });
  readonly #channel: Channel<SynthesisPage>;
  readonly #reasons = element("div", { class: "reasons" });
  readonly #attempts = element("div", { class: "attempts" });
  #selection: RejectedSelection | undefined;
  /** Counts requests: a result that is no longer the latest one is ignored. */
  #requestCount = 0;

  constructor(channel: Channel<SynthesisPage>) {
    this.#channel = channel;
    this.element.append(
      element("h2", {}, "Rejected"),
      element("div", { class: "sides" }, this.#reasons, this.#attempts),
    );
  }

  /** Shows the reasons. */
  update(rejected: Tally): void {
    const max = Math.max(1, ...rejected.map(([, n]) => n));
    const reasons = rejected.map(([reason, n]) => this.#createReason(reason, n, n / max));
    this.#reasons.replaceChildren(
      ...(reasons.length ? reasons : [createNote("No attempt was rejected.")]),
    );
    this.#markSelected();
    if (rejected.length > 0 && !this.#selection)
      this.#attempts.replaceChildren(
        createNote("Choose a reason, or an edge into reject, to list its attempts."),
      );
  }

  /** Lists the attempts that were rejected for a reason or in a state. */
  select(selection: RejectedSelection): void {
    this.#selection = selection;
    this.#markSelected();
    void this.#load(selection, 0);
  }

  #createReason(reason: string, n: number, share: number): HTMLElement {
    const filling = element("span", { class: "filling" });
    filling.style.width = `${(share * 100).toFixed(1)}%`;
    const button = element(
      "button",
      { type: "button", class: "reason", "data-reason": reason },
      element("span", { class: "name" }, escapeInvisible(reason)),
      element("span", { class: "number" }, formatInteger(n)),
      element("span", { class: "bar", "aria-hidden": "true" }, filling),
    );
    button.addEventListener("click", () => this.select({ reason }));
    return button;
  }

  #markSelected(): void {
    for (const it of this.#reasons.querySelectorAll<HTMLElement>(".reason"))
      it.setAttribute("aria-pressed", String(it.dataset["reason"] === this.#selection?.reason));
  }

  async #load(selection: RejectedSelection, start: number): Promise<void> {
    const request = ++this.#requestCount;
    const { total, items } = await this.#channel.request("rejected", { selection, start });
    if (request !== this.#requestCount) return;
    this.#showAttempts(selection, total, items, start);
    const loaded = start + items.length;
    if (loaded >= total) return;
    const more = `Show more of ${formatInteger(total - loaded)}`;
    const loadMore = () => void this.#load(selection, loaded);
    this.#attempts.append(createLink(loadMore, { class: "link more" }, more));
  }

  #showAttempts(
    { reason, from = "" }: RejectedSelection,
    total: number,
    items: readonly RejectedItem[],
    start: number,
  ): void {
    const rows = items.map(it => this.#createRow(it));
    const list = start > 0 ? this.#attempts.querySelector("ol") : undefined;
    const where =
      reason === undefined ? `in “${escapeInvisible(from)}”` : `for “${escapeInvisible(reason)}”`;
    if (list) list.append(...rows);
    else if (total === 0)
      this.#attempts.replaceChildren(createNote(`No attempt rejected ${where} was recorded.`));
    else
      this.#attempts.replaceChildren(
        element(
          "p",
          { class: "quiet", role: "status" },
          `${formatInteger(total)} rejected ${where}`,
        ),
        element("ol", {}, ...rows),
      );
    this.#attempts.querySelector(".more")?.remove();
  }

  #createRow({ line, servers, reason, why, request, chain }: RejectedItem): HTMLElement {
    const open = () => void this.#channel.request("open", { line });
    const details = [servers, why && why !== reason ? why : reason, request ? chain : ""].filter(
      it => it !== "",
    );
    return element(
      "li",
      {},
      createLink(open, {}, escapeInvisible(request || chain || "(no message)")),
      element("span", { class: "quiet" }, escapeInvisible(details.join(" · "))),
    );
  }
}

const createNote = (text: string) => element("p", { class: "empty" }, text);
