/** Sentences around the first request suit it, and are written as the persona writes. */
import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import { readAbstentions } from "../../../src/synthesis/text/abstentions.ts";
import { addSentence, pickSecondThought } from "../../../src/synthesis/text/composeTurn.ts";
import { readStyleGuide } from "../../../src/synthesis/text/personas.ts";
import { root } from "../../contracts/transports.ts";

const { secondThoughts } = readAbstentions(`${root}/resources`);
const { personas } = readStyleGuide(`${root}/resources`);

test("a second thought stands before or after the requests, and suits all of them", () => {
  for (const effects of [["read"], ["write"], ["read", "write"]] as const) {
    const allowed = secondThoughts.filter(
      it => it.on === "any" || (effects.length === 1 && it.on === effects[0]),
    );
    for (let seed = 0; seed < 200; seed++) {
      const { before, after } = pickSecondThought(secondThoughts, effects, createRandom(seed));
      expect([before, after].filter(it => it === "")).toHaveLength(1);
      const texts = allowed.flatMap(it => (after === "" ? it.before : it.after));
      expect(texts).toContain(before + after);
    }
  }
});

test("a further sentence ends as the persona ends sentences", () => {
  const brief = personas.find(it => it.name === "brief")!;
  const polite = personas.find(it => it.name === "polite")!;
  expect(addSentence("list my accounts", "No rush.", brief)).toBe("list my accounts. No rush");
  expect(addSentence("Could you list them?", "No rush.", polite)).toBe(
    "Could you list them? No rush.",
  );
  expect(addSentence("List them.", "", polite)).toBe("List them.");
});
