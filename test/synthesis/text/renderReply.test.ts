/** Replies are joined into one message, and refusals are rewritten for the user. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import {
  renderMissingCapability,
  type MissingCapabilityTemplates,
  type RefusalPosition,
  isFullClause,
  formatRefusal,
} from "../../../src/synthesis/text/refusals.ts";
import { renderTurnRefusal } from "../../../src/synthesis/user/turns/turnBuilder.ts";
import type { UserTurn } from "../../../src/synthesis/user/userPlan.ts";
import { isRequest, omitRepeatedDays, fixSingular } from "../../../src/synthesis/text/grammar.ts";
import { readStyleGuide } from "../../../src/synthesis/text/personas.ts";
import { markVerbatim, endMark } from "../../../src/synthesis/text/templateText.ts";
import { renderReply } from "../../../src/synthesis/text/replies.ts";
import { catalog, root } from "../../contracts/transports.ts";

const style = readStyleGuide(join(root, "resources"));
const plainStyle = {
  ...style,
  openers: { write: [""], read: [""], ask: [""] },
  asking: ["As for the rest: "],
  but: ["But "],
};
const markValue = (text: string) => markVerbatim(text) + endMark;
const render = (
  texts: string[],
  options: {
    question?: string;
    refusal?: string;
    isBrief?: boolean;
    seed?: number;
    openers?: boolean;
  } = {},
) =>
  renderReply(
    {
      replies: texts.map(text => ({ text, isWrite: true })),
      question: options.question,
      refusal: options.refusal,
      isEntity: it => it === "Travel card" || it === "notes.txt",
      before: "",
      isBrief: options.isBrief ?? true,
    },
    options.openers ? style : plainStyle,
    createRandom(options.seed ?? 1),
  );

const messages: [actual: string, expected: string][] = [
  [
    render([`There is a new deal with ${markValue("Pumice Ltd.")}.`, "The report is sent."]),
    "There is a new deal with Pumice Ltd. The report is sent.",
  ],
  [
    render([`I have archived ${markValue("How was your flight?")}.`]),
    "I have archived How was your flight?",
  ],
  [
    render(["Done, the card is frozen.", "Done, the account holds 20 euros."]),
    "Done, the card is frozen. The account holds 20 euros.",
  ],
  [
    render([
      `${markValue("notes.txt")} is written.`,
      `${markValue("notes.txt")} belongs to ben now.`,
    ]),
    "notes.txt is written. It belongs to ben now.",
  ],
  [
    render([
      `${markValue("notes.txt")} has 3 points now.`,
      `Your comment is under ${markValue("notes.txt")}.`,
    ]),
    "notes.txt has 3 points now. Your comment is under it.",
  ],
  [
    render(
      ["a.txt", "b.txt", "c.txt"].map(it => `${markValue(it)} belongs to ben now.`),
      { isBrief: false },
    ),
    "a.txt, b.txt and c.txt belong to ben now.",
  ],
  [
    render(
      ["a.txt", "b.txt"].map(it => `I have moved ${markValue(it)} to the trash.`),
      { isBrief: false },
    ),
    "I have moved a.txt and b.txt to the trash.",
  ],
  [
    render(
      [`I have archived "${markValue("Maps")}".`, `I have archived "${markValue("How are you?")}"`],
      { isBrief: false },
    ),
    'I have archived "Maps" and "How are you?"',
  ],
  [
    render(["The first letter is marked as read now.", "The second letter is marked as read."]),
    "The first letter is marked as read now, and so is the second letter.",
  ],
  [
    render(
      ["Photos", "Your storage is full"].map(it => `"${markValue(it)}" is off your unread list.`),
    ),
    '"Photos" is off your unread list, and so is "Your storage is full".',
  ],
  [
    render([
      `The ${markValue("Gym")} bill is paid.`,
      "That card is frozen.",
      "That card is frozen.",
    ]),
    "The Gym bill is paid. That card is frozen. The same goes for the other one.",
  ],
  [
    render([
      `The ${markValue("Travel card")} is frozen.`,
      `The ${markValue("Gift card")} is frozen.`,
    ]),
    "The Travel card is frozen, and so is the Gift card.",
  ],
  [
    render([
      `"${markValue("Kickoff")}" has moved to the archive.`,
      `"${markValue("Colours")}" has moved to the archive.`,
    ]),
    '"Kickoff" has moved to the archive, and so has "Colours".',
  ],
  [
    render(
      ["Travel card", "Gift card", "Gym card"].map(it => `The ${markValue(it)} is frozen.`),
      { isBrief: false },
    ),
    "The Travel card, the Gift card and the Gym card are frozen.",
  ],
  [
    render(
      ["1", "2", "3", "4"].map(it => `I have cancelled order ${markValue(it)}.`),
      { isBrief: false },
    ),
    "I have cancelled orders 1, 2, 3 and 4.",
  ],
  [
    render(
      ["Kickoff", "Colours", "Party"].map(it => `I put a laugh under "${markValue(it)}".`),
      { isBrief: false },
    ),
    'I put a laugh under "Kickoff", "Colours" and "Party".',
  ],
  [
    render(["That card is frozen.", "That card is frozen.", "That card is frozen."]),
    "That card is frozen. The same goes for the others.",
  ],
  [
    render(["It is planned."], { question: "Which card is it?" }),
    "It is planned. As for the rest: which card is it?",
  ],
  [render([], { question: "Which card is it?" }), "Which card is it?"],
  [
    render(["It is planned."], { refusal: "I am sorry, but the card is frozen." }),
    "It is planned. But the card is frozen.",
  ],
  [
    render(["It is planned."], { refusal: "Sorry, but I can't freeze the card." }),
    "It is planned. But I can't freeze the card.",
  ],
  [
    render(["It is planned."], { refusal: `${markVerbatim("Julien Moreau")} hosts it.` }),
    "It is planned. But Julien Moreau hosts it.",
  ],
  [render([], { refusal: "The card is frozen." }), "The card is frozen."],
  [
    render([
      `Two ${markValue("tents")} are yours. You have until ${markValue("Friday")}.`,
      `A ${markValue("kettle")} is yours. You have until ${markValue("Friday")}.`,
    ]),
    "Two tents are yours. You have until Friday. A kettle is yours.",
  ],
  [
    render([`It says: "${markValue("Redo the logo")}"`, "It is planned."]),
    'It says: "Redo the logo". It is planned.',
  ],
  [
    render([
      `${markValue("notes.txt")} is at ${markValue("the end")} now.`,
      `${markValue("notes.txt")} is at ${markValue("the end")}.`,
    ]),
    "notes.txt is at the end now.",
  ],
  [render([`They say: "${markValue("It came early.")}".`]), 'They say: "It came early."'],
  [render(["It takes 45.5 euros and 1 minutes."]), "It takes 45.50 euros and 1 minute."],
  [
    render(["It is from 9 March at 10:30 until 9 March at 11:00."]),
    "It is on 9 March from 10:30 to 11:00.",
  ],
];
test.each(messages)("%s", (actual, expected) => {
  expect(actual).toBe(expected);
});

test("at most two sentences are connected with and", () => {
  for (let seed = 0; seed < 60; seed++) {
    const text = render(
      ["Repairs is there now, and 820 euros are still free.", "There are no expenses in it yet."],
      { seed, isBrief: false },
    );
    expect(text).not.toMatch(/, and .*,? and /);
  }
});

test("a message says Done at most once", () => {
  for (let seed = 0; seed < 60; seed++) {
    const text = render(
      [
        "Done, the card is frozen.",
        "Done, the account holds 20 euros now.",
        "Done, it is planned for Friday.",
      ],
      { seed, openers: true, isBrief: false },
    );
    expect(text.match(/\bDone\b/g) ?? []).toHaveLength(1);
    expect(text).toMatch(/^[A-Z].*\.$/);
  }
});

test("two sentences about the same entity may become one that names it once", () => {
  const replies = [
    `"${markValue("Open evening")}" is waiting among your drafts.`,
    `"${markValue("Open evening")}" is addressed to Paul.`,
  ];
  const texts = new Set(
    Array.from({ length: 40 }, (_, seed) => render(replies, { seed, isBrief: false })),
  );
  expect(texts).toContain('"Open evening" is waiting among your drafts and is addressed to Paul.');
  for (const it of texts) expect(it).not.toMatch(/and "Open evening"/);
});

const plain = {
  request: ["I can't {clause}."],
  question: ["I can't see that."],
  deed: ["I can't do that."],
};
const words: MissingCapabilityTemplates = {
  ...plain,
  insist: { says: ["Please?"], replies: ["No: {because}."] },
  several: { question: ["I can't see any of that."], deed: ["I can't do any of that."] },
  rest: { question: ["I can't see the last of it."], deed: ["I can't do the last of it."] },
  again: {
    request: ["I can't {clause} either."],
    question: ["That neither."],
    deed: ["Nor that."],
  },
  thing: ["I can't find {thing}."],
  forbidden: { request: ["No."], plain: ["No."] },
  goOn: [""],
};
const unfulfilled: [clause: string, position: RefusalPosition, reply: string][] = [
  [
    'write "I like my desk" under my post',
    "alone",
    'I can\'t write "I like my desk" under your post.',
  ],
  ["read me my mail", "again", "I can't read you your mail either."],
  ["my post is old, delete it", "rest", "I can't do the last of it."],
  ["my post is old, delete it", "again", "Nor that."],
];
test.each(unfulfilled)("the reply to %s (%s) is: %s", (clause, position, reply) => {
  const tool = catalog.tools.get("social_media_delete_post")!;
  expect(
    renderMissingCapability(
      { kind: "tool" },
      { clause, tool },
      { templates: words, position, random: createRandom(1) },
    ),
  ).toBe(reply);
});

test("a refusal of several requests speaks of all of them", () => {
  const [read, write] = ["social_media_get_feed", "social_media_delete_post"].map(it => ({
    tool: catalog.tools.get(it)!,
  }));
  const refuse = (...intents: readonly unknown[]) =>
    renderTurnRefusal({ text: "", intents } as UserTurn, words, createRandom(1));
  expect(refuse(read, read)).toBe("I can't see any of that.");
  expect(refuse(read, write)).toBe("I can't do any of that.");
});

test("requests are told from other clauses", () => {
  const requests = ["book a table", "order 2 pizzas", "call Emma"];
  const others = [
    '"Sprint planning" takes place weekly, plan it',
    "one of my expenses is wrong",
    "don't wait for me",
    "booking PMM637 belongs to it, put it there",
    "order 4162 is late, cancel it",
  ];
  expect(requests.filter(it => !isRequest(it))).toEqual([]);
  expect(others.filter(isRequest)).toEqual([]);
});

describe("a refusal", () => {
  const cases: [error: string, reason: string][] = [
    ["account acc_498 (Old student account) is closed", "the Old student account is closed"],
    [
      "card card_602 (Travel card) is frozen since 2026-03-09",
      "the Travel card is frozen since 9 March",
    ],
    [
      "Quarterly planning (evt_518) is like that already",
      "Quarterly planning is like that already",
    ],
    ["Morning run (evt_326) repeats every_two_weeks", "Morning run repeats every two weeks"],
    ["VL 216 on 2026-03-13 is sold out", "VL 216 on 13 March is sold out"],
    [
      "the limit of Books and films is already 60 in 2026-03",
      "the limit of Books and films is already 60 in March",
    ],
    ["Skyline Airways <no-reply@skyline.example> takes no mail", "Skyline Airways takes no mail"],
    [
      "Anton Gruber (lead_4) is converted already, into the contact con_921 and the deal deal_514",
      "Anton Gruber is converted already, into that contact and that deal",
    ],
    [
      "the user hosts Orchard Foods (mtg_1) from 2026-03-10T09:00 to 2026-03-10T10:00",
      "you host Orchard Foods from 10 March at 09:00 to 10 March at 10:00",
    ],
    ["~/old_notes.txt already exists", "~/old_notes.txt already exists"],
  ];
  test.each(cases)("%s", (error, reason) => {
    expect(formatRefusal(error, "2026-03-09T09:00", createRandom(1))).toBe(reason);
  });

  test("is a full clause if it has a verb before a colon", () => {
    expect(isFullClause("the card is frozen")).toBe(true);
    expect(isFullClause("insufficient funds: Savings has 20 available")).toBe(false);
  });
});

test("a noun after 1 becomes singular", () => {
  expect(
    [
      "1 files",
      "1 open tasks",
      "1 entries",
      "1 matches",
      "21 files",
      "3.1 litres",
      "1 is there",
    ].map(fixSingular),
  ).toEqual([
    "1 file",
    "1 open task",
    "1 entry",
    "1 match",
    "21 files",
    "3.1 litres",
    "1 is there",
  ]);
});

test("consecutive times on one day name the day once", () => {
  expect(omitRepeatedDays(["12 March at 09:00", "12 March at 10:30", "13 March at 09:00"])).toEqual(
    ["12 March at 09:00", "10:30", "13 March at 09:00"],
  );
});
