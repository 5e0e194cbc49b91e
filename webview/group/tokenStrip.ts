/** Draws the sampled tokens of a message: which of them carried a gradient, and in which direction. */
import type { SampledTokens } from "../../src/protocol/groupPage.ts";
import { element } from "../element.ts";
import { formatCount } from "../text.ts";

export function createTokenStrip(tokens: SampledTokens): HTMLElement {
  const clipped = new Set(tokens.clipped);
  const direction = tokens.advantage > 0 ? "up" : tokens.advantage < 0 ? "down" : "none";
  const label = describeStrip(tokens);
  return element(
    "span",
    { class: "strip", role: "img", "aria-label": label, title: label },
    ...Array.from({ length: tokens.count }, (_, i) =>
      element("span", {
        class: `token ${direction !== "none" && clipped.has(i) ? "clipped" : direction}`,
      }),
    ),
  );
}

/** Describes what the strip shows. */
export function describeStrip({ count, clipped, advantage }: SampledTokens): string {
  const tokens = formatCount(count, "token");
  if (advantage === 0) return `${tokens} without gradient: the advantage is 0`;
  const direction = advantage > 0 ? "more" : "less";
  const part = clipped.length === 0 ? "" : `, ${clipped.length} clipped`;
  return `${tokens} made ${direction} likely${part}`;
}
