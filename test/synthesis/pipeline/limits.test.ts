/** A limit that a condition sets is also the value of the call: no user bids more than they named. */
import { expect, test } from "vitest";
import { parseScenarios } from "../../../src/synthesis/text/scenarios.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const scenarios = parseScenarios(
  JSON.stringify({
    format: "prove/scenarios@1",
    scenarios: [
      {
        name: "bid-with-limit",
        motive: ["I have found something."],
        turns: [
          [
            {
              as: "look",
              tool: "marketplace_get_listing",
              say: [{ say: "what is the next bid on {listing_id}?", reply: ["{next_bid} euros."] }],
            },
            {
              tool: "marketplace_place_bid",
              say: ["if it is no more than {limit} euros, bid {amount}"],
              from: { listing_id: "look.listing_id" },
              if: {
                of: "look",
                field: "next_bid",
                is: "at most",
                sets: "amount",
                else: ["That is more than {limit} euros."],
              },
            },
          ],
          [
            {
              tool: "marketplace_get_seller_profile",
              say: ["who is the seller?"],
              from: { seller_id: "look.seller_id" },
            },
          ],
        ],
      },
    ],
  }),
  "test.json",
  catalog,
);

test("nobody bids more than the limit that they named", async () => {
  const { tasks } = await synthesizeTasks(60, {
    preset: "paper",
    menu: "realistic",
    servers: ["marketplace"],
    scenarios,
  });
  const met = tasks.filter(it => it.knobs["conditions"] === "met");
  expect(met.length).toBeGreaterThan(0);
  for (const { turns, goals } of met) {
    const limit = turns.map(it => / no more than ([\d.]+)/.exec(it.user)?.[1]).find(Boolean);
    const bids = goals
      .flatMap(it => it.calls)
      .filter(it => it.name === "marketplace_place_bid")
      .map(it => it.arguments["amount"]);
    expect(bids).toContain(Number(limit));
  }
});
