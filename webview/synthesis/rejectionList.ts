/**
 * What was turned down: reasons with their counts, and the attempts of the one that is chosen, to
 * be opened one by one.
 */
import type {
  RejectedItem,
  RejectedSelection,
  SynthesisPage,
  Tally,
} from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import type { Channel } from "../page.ts";
import { visible, whole } from "../text.ts";

export class RejectionList {
  readonly element = element("section", { class: "rejections", "aria-label": "Turned down" });
  readonly #channel: Channel<SynthesisPage>;
  readonly #reasons = element("div", { class: "reasons" });
  readonly #list = element("div", { class: "attempts" });
  #selection: RejectedSelection | undefined;
  /** Counts questions: an answer that came too late is not shown. */
  #requestCount = 0;

  constructor(channel: Channel<SynthesisPage>) {
    this.#channel = channel;
    this.element.append(
      element("h2", {}, "Turned down"),
      element("div", { class: "sides" }, this.#reasons, this.#list),
    );
  }

  show(rejected: Tally): void {
    const most = Math.max(1, ...rejected.map(([, n]) => n));
    if (rejected.length === 0)
      this.#reasons.replaceChildren(element("p", { class: "empty" }, "Nothing was turned down."));
    else
      this.#reasons.replaceChildren(
        ...rejected.map(([reason, n]) => this.#reason(reason, n, n / most)),
      );
    this.#markSelected();
    if (rejected.length > 0 && !this.#selection)
      this.#list.replaceChildren(
        element(
          "p",
          { class: "empty" },
          "Choose a reason, or an edge into reject, to list its attempts.",
        ),
      );
  }

  /** Lists what was turned down for a reason or from a state. */
  choose(selection: RejectedSelection): void {
    this.#selection = selection;
    this.#markSelected();
    void this.#load(0);
  }

  #reason(reason: string, n: number, share: number): HTMLElement {
    const filling = element("span", { class: "filling" });
    filling.style.width = `${(share * 100).toFixed(1)}%`;
    const button = element(
      "button",
      { type: "button", class: "reason", "data-reason": reason },
      element("span", { class: "name" }, visible(reason)),
      element("span", { class: "number" }, whole(n)),
      element("span", { class: "bar", "aria-hidden": "true" }, filling),
    );
    button.addEventListener("click", () => this.choose({ reason }));
    return button;
  }

  #markSelected(): void {
    for (const it of this.#reasons.querySelectorAll<HTMLElement>(".reason"))
      it.setAttribute("aria-pressed", String(it.dataset["reason"] === this.#selection?.reason));
  }

  async #load(start: number): Promise<void> {
    const selection = this.#selection!;
    const mine = ++this.#requestCount;
    const { total, items } = await this.#channel.ask("rejected", { selection, start });
    if (mine !== this.#requestCount) return;
    const of =
      selection.reason !== undefined
        ? `for “${visible(selection.reason)}”`
        : `in “${visible(selection.from ?? "")}”`;
    const rows = items.map(it => this.#row(it));
    const list = start > 0 ? this.#list.querySelector("ol") : undefined;
    if (list) list.append(...rows);
    else if (total === 0)
      this.#list.replaceChildren(
        element("p", { class: "empty" }, `No attempt that was turned down ${of} was kept.`),
      );
    else
      this.#list.replaceChildren(
        element("p", { class: "quiet", role: "status" }, `${whole(total)} turned down ${of}`),
        element("ol", {}, ...rows),
      );
    this.#list.querySelector(".more")?.remove();
    const shown = start + items.length;
    if (shown >= total) return;
    const more = element(
      "button",
      { type: "button", class: "link more" },
      `Show more of ${whole(total - shown)}`,
    );
    more.addEventListener("click", () => void this.#load(shown));
    this.#list.append(more);
  }

  #row({ line, servers, reason, why, request, chain }: RejectedItem): HTMLElement {
    const open = element(
      "button",
      { type: "button", class: "link" },
      visible(request || chain || "(nothing was said)"),
    );
    open.addEventListener("click", () => void this.#channel.ask("open", { line }));
    const about = [servers, why && why !== reason ? why : reason, request ? chain : ""].filter(
      it => it !== "",
    );
    return element("li", {}, open, element("span", { class: "quiet" }, visible(about.join(" · "))));
  }
}
