/**
 * Every rule of every server can be broken: a rule that no state breaks would hold whatever the
 * tools do. States are corrupted in every simple way, and by hand where that does not break a rule.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/environment/json.ts";
import { editState, type Edits } from "../servers/check.ts";
import { collectValues, listCorruptions } from "./corruption.ts";
import { catalog } from "./transports.ts";

/** Servers whose own tests break each rule by hand. */
const brokenInOwnTests = new Set([
  "iot_devices",
  "issue_tracker",
  "maps",
  "marketplace",
  "payments",
  "retail_chain",
  "shopping",
]);

const file = (text: string) => ({
  type: "file",
  owner: "ana",
  group: "ana",
  mode: "644",
  modified: "2026-03-09T09:00",
  text,
});
const nestDirectories = (levels: number): JsonObject => ({
  type: "directory",
  owner: "ana",
  group: "ana",
  mode: "755",
  modified: "2026-03-09T09:00",
  entries: levels === 1 ? {} : { inner: nestDirectories(levels - 1) },
});
const home = "root.entries.home.entries.ana.entries";
const croissant = { dish_id: "dsh_101", choices: [] };

/** What a write would have changed in the small fixture to break a rule. */
const brokenByHand: Readonly<Record<string, Readonly<Record<string, Edits>>>> = {
  banking: {
    "The cash taken with a card on one day is at most its daily limit.": {
      "transactions.txn_900": {
        account_id: "acc_101",
        at: "2026-03-09T09:00",
        amount: -1000,
        kind: "withdrawal",
        text: "Cash",
        card_id: "card_211",
      },
    },
  },
  email: {
    "A draft that is sent goes to its recipients with its text and attachments.": {
      "drafts.drf_101": undefined,
      "messages.msg_900": {
        thread_id: "thr_101",
        from: "adr_101",
        to: ["adr_128"],
        at: "2026-03-09T09:00",
        text: "Something else",
      },
    },
  },
  filesystem: {
    "What is on the disk and in the trash grows only within the quota.": {
      [`${home}.big`]: file("x".repeat(13_000)),
    },
    "A new path has at most 40 levels and 1024 characters.": {
      [`${home}.deep`]: nestDirectories(40),
    },
  },
  food_delivery: {
    "An order or a basket has at most 30 dishes, and at most 20 of one dish.": {
      "basket.lines": [
        { ...croissant, quantity: 20 },
        { ...croissant, quantity: 1, note: "warm" },
      ],
    },
    "A promo code is used for at most one order that is not cancelled.": {
      "orders.ord_101.promo": "SPRING2",
      "orders.ord_107.promo": "SPRING2",
    },
  },
  team_chat: {
    "Only its owner archives a channel, and nobody one for announcements.": {
      "channels.chn_101.archived": "2026-03-09",
    },
  },
  travel_booking: {
    "Changed or not, a cancelled flight booking gives back at most the share of its fare or insurance.":
      {
        "flight_bookings.fbk_104.status": "cancelled",
        "flight_bookings.fbk_104.paid": 0,
      },
  },
  vehicle: {
    "Cruise control keeps a speed that the drive mode and the tires allow, and only in drive.": {
      "vehicles.veh_113.mode": "eco",
      "vehicles.veh_113.cruise": 130,
      "vehicles.veh_113.speed": 130,
    },
    "In eco mode, a climate that is on is within the limits of that mode.": {
      "vehicles.veh_107.climate": { temperature: 27, fan: 5 },
    },
  },
  video_meeting: {
    "What is recorded is a running meeting, once, where the plan records and everybody agrees.": {
      "recordings.rec_900": {
        meeting_id: "mtg_107",
        started_at: "2026-03-09T09:00",
        minutes: 0,
        status: "recording",
        by: "per_101",
      },
    },
  },
};

for (const server of catalog.servers.values()) {
  if (brokenInOwnTests.has(server.name)) continue;
  describe(server.name, () => {
    const byHand = brokenByHand[server.name] ?? {};
    const [small, full] = ["small", "full"].map(
      it => catalog.getFixture(server.name, it).state,
    ) as [JsonObject, JsonObject];
    const isBroken = (state: JsonObject, it: (typeof server.invariants)[number]) => {
      try {
        return (it.findViolation(state, small) ?? it.findViolation(state)) !== undefined;
      } catch {
        return false; // the schema does not allow this state
      }
    };
    test("every rule is broken by a state that the schema allows", () => {
      const unbroken = new Set(server.invariants.filter(it => !Object.hasOwn(byHand, it.rule)));
      for (const corrupted of listCorruptions(small, collectValues([small, full]))) {
        const broken = [...unbroken].filter(it => isBroken(corrupted as JsonObject, it));
        if (broken.length > 0 && server.schema.safeParse(corrupted).success)
          for (const it of broken) unbroken.delete(it);
        if (unbroken.size === 0) break;
      }
      expect([...unbroken].map(it => it.rule)).toEqual([]);
    });
    for (const [rule, edits] of Object.entries(byHand))
      test(rule, () => {
        const corrupted = editState(small, edits);
        expect(server.schema.safeParse(corrupted).error?.message).toBeUndefined();
        const invariant = server.invariants.find(it => it.rule === rule)!;
        expect(invariant.findViolation(corrupted, small)).toBeTypeOf("string");
      });
  });
}
