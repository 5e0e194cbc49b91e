/** The limits of conditions are on the wanted side of the live value, and make sense. */
import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import type { Tool } from "../../../src/environment/server.ts";
import type { ScenarioCondition } from "../../../src/synthesis/text/scenarios.ts";
import { settleCondition } from "../../../src/synthesis/user/scenarios/condition.ts";

const condition: ScenarioCondition = { field: "rating", is: "over", most: 9.5, else: ["No."] };
const intent = { tool: { outputSchema: {} } as Tool };

test("no limit is above the largest that makes sense", () => {
  for (const rating of [7.8, 8.9, 9.2, 9.7])
    for (let seed = 0; seed < 60; seed++) {
      const settled = settleCondition(
        condition,
        { intent, result: { rating } },
        createRandom(seed),
      );
      if (!settled) continue;
      const limit = Number(settled.limit);
      expect(limit).toBeLessThanOrEqual(9.5);
      expect(rating > limit).toBe(settled.isMet);
    }
});
