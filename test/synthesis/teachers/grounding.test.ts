/** A model's text for a user turn must say the planned values and invent nothing. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/environment/json.ts";
import type { TurnPlan } from "../../../src/synthesis/teachers/chatModel/turnCheck.ts";
import { findGroundingFlaw } from "../../../src/synthesis/teachers/chatModel/grounding.ts";
import type { Intent } from "../../../src/synthesis/user/intents/intent.ts";
import { catalog } from "../../contracts/transports.ts";
import type { EntityInstance } from "../../../src/synthesis/user/entities/entitySample.ts";

const createInstance = (entity: string, id: string, label?: string): EntityInstance => ({
  entity,
  id,
  ...(label === undefined ? {} : { label }),
  facts: {},
  parents: {},
});
const flat = createInstance("account", "acc_104", "Shared flat");
const everyday = createInstance("account", "acc_101", "Everyday");
const standup = createInstance("event", "evt_7", "Morning standup");
const message = createInstance("message", "msg_12");

function createPlan(
  plain: string,
  tool: string,
  args: JsonObject,
  argumentTexts: Record<string, string>,
  instances: readonly EntityInstance[],
  changes: Partial<TurnPlan> = {},
): TurnPlan {
  const intent: Intent = {
    tool: catalog.tools.get(tool)!,
    arguments: args,
    mentions: instances.map(it => ({ instance: it, isIdSpoken: false })),
    clause: plain,
    template: plain,
    argumentTexts,
  };
  return {
    plain,
    turn: { text: plain, intents: [intent] },
    kind: "open",
    persona: { name: "plain", weight: 1, ask: ["{clause}"], dates: "plain" },
    now: "2026-03-09T09:00",
    isMinimal: false,
    sample: {
      instances: new Map([
        ["account", [flat, everyday]],
        ["event", [standup]],
        ["message", [message]],
      ]),
      rows: [],
      find: () => undefined,
    },
    tools: [],
    events: [],
    ...changes,
  };
}

const transfer = createPlan(
  "I should like you to set up a transfer of 1200.50 from the Shared flat account to my Everyday account on the 9th of April.",
  "banking_transfer",
  { from_account: "acc_104", to_account: "acc_101", amount: 1200.5, date: "2026-04-09" },
  {
    from_account: "the Shared flat account",
    to_account: "my Everyday account",
    amount: "1200.50",
    date: "the 9th of April",
  },
  [flat, everyday],
);

describe("a request for a transfer", () => {
  test.each([
    "Hiya! Can you move 1,200.50 euros from Shared flat to Everyday on 9 April?",
    "On April 9th, please send €1200.5 from the shared flat account over to my everyday account.",
    "pls set up 1200.50 shared flat -> everyday, 2026-04-09",
    "Hi, it's rent time. I need 1200.50 to go from Shared flat to Everyday on Thursday the 9th of April, thanks!",
  ])("is accepted: %s", text => {
    expect(findGroundingFlaw(text, transfer)).toBeUndefined();
  });

  test.each([
    ["loses a value", "Can you move some money from Shared flat to Everyday on 9 April?"],
    ["loses a value", "Can you move 1200 euros from Shared flat to Everyday on 9 April?"],
    ["loses a value", "Can you move 1200.50 euros to Everyday on 9 April?"],
    ["loses a value", "Can you move 1200.50 euros from Shared flat to Everyday soon?"],
    ["loses a value", "Can you move 1200.50 euros from Shared flat to Everyday on 19 April?"],
    ["says an id", "Can you move 1200.50 euros from Shared flat (acc_104) to Everyday on 9 April?"],
    [
      "makes something up",
      "Can you move 1200.50 euros from Shared flat to Everyday on 9 April? Thanks, Tom",
    ],
    [
      "makes something up",
      "Can you move 1200.50 euros from Shared flat to Everyday on 9 April? It is for 3 people at 400.17 each.",
    ],
    [
      "makes something up",
      "Can you move 1200.50 euros from Shared flat to Everyday on 9 April, and mail ana@example.com?",
    ],
    [
      "makes something up",
      'Can you move 1200.50 euros from Shared flat to Everyday on 9 April with the note "rent"?',
    ],
    [
      "makes something up",
      "Can you move 1200.50 euros from Shared flat to Everyday on 9 April, or tomorrow?",
    ],
    [
      "makes something up",
      "Can you move 1200.50 euros from Shared flat to Everyday on Friday 9 April?",
    ],
  ])("is rejected because it %s: %s", (event, text) => {
    expect(findGroundingFlaw(text, transfer)?.event).toBe(event);
  });
});

describe("times", () => {
  const meeting = createPlan(
    "put Cover story into my calendar for 10 Mar at 14:30",
    "calendar_create_event",
    { title: "Cover story", start: "2026-03-10T14:30" },
    { title: "Cover story", start: "10 Mar at 14:30" },
    [],
  );

  test.each([
    "tomorrow at 2:30 pm please: Cover story",
    "Cover story, 10 March, 14:30, in my calendar",
    "Could you add Cover story on Tuesday at 14.30?",
    "add 'Cover story' for March 10 at 2:30pm",
  ])("are recognized in %s", text => {
    expect(findGroundingFlaw(text, meeting)).toBeUndefined();
  });

  test.each([
    "tomorrow at 2:30 am please: Cover story",
    "Cover story on 11 March at 14:30",
    "Cover story on Wednesday at 14:30",
    "Cover story tomorrow afternoon",
  ])("are missing in %s", text => {
    expect(findGroundingFlaw(text, meeting)?.event).toMatch(/loses a value|makes something up/);
  });
});

test("an entity without a name must keep all its distinguishing features", () => {
  const words = 'the message sent on 2026-02-13 in the conversation "Stand 14 is yours"';
  const plan = createPlan(
    `Show me ${words} in full.`,
    "email_get_message",
    { message_id: "msg_12" },
    { message_id: words },
    [message],
  );
  expect(
    findGroundingFlaw('In "Stand 14 is yours", show me the whole message from 13 February.', plan),
  ).toBeUndefined();
  expect(findGroundingFlaw('Show me the whole message in "Stand 14 is yours".', plan)?.event).toBe(
    "loses a value",
  );
  expect(findGroundingFlaw("Show me the whole message from 13 February.", plan)?.event).toBe(
    "loses a value",
  );
});

test("a withheld value must not be said before the assistant asks for it", () => {
  const plan = createPlan(
    "Could you please skip one of my series the next time?",
    "calendar_list_events",
    {},
    {},
    [],
    { turn: { text: "", intents: [], question: "Which one?" } },
  );
  expect(findGroundingFlaw("Would you skip one of my series next time?", plan)).toBeUndefined();
  expect(findGroundingFlaw("Would you skip my Morning standup next time?", plan)?.event).toBe(
    "makes something up",
  );
});

test("a minimal message must be short", () => {
  const plan = createPlan("freeze my card", "banking_freeze_card", {}, {}, [], { isMinimal: true });
  expect(findGroundingFlaw("please freeze my card, quickly", plan)).toBeUndefined();
  expect(
    findGroundingFlaw(
      "please freeze my card because i left it in a shop this morning and now i am worried that somebody might use it",
      plan,
    )?.event,
  ).toBe("too long");
});
