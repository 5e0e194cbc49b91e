/** Templates of threads with colleagues. */
import type { ThreadTemplate } from "./threadTemplate.ts";

export const staffThreads: readonly ThreadTemplate[] = [
  {
    with: "staff1",
    subject: "Server move is done",
    days: 3,
    lines: [
      "< All sites run on the new server. If something looks odd, tell me the address and the time.",
    ],
  },
  {
    with: "staff1",
    subject: "Checklist for the launch",
    days: 8,
    labels: ["Website"],
    lines: [
      "< Here is the list for 2 April. Half of it is yours, sorry. [launch-checklist.docx]",
      "> Point nine is missing the cookie text.",
      "< Added.",
    ],
  },
  {
    with: "staff2",
    subject: "Logo variants",
    days: 5,
    lines: [
      "< Three variants, no favourites from me. [logo-a.svg, logo-b.svg, logo-c.svg]",
      "> The second, with more air.",
    ],
  },
  {
    with: "staff3",
    subject: "Printer is out of paper",
    days: 10,
    folder: "Archive",
    cc: ["staff13"],
    lines: [
      "< The big printer has no paper and the cupboard is empty. {staff13}, could you order some?",
      "> Please the grey one, not the white.",
    ],
  },
  {
    with: "staff3",
    subject: "New password rules",
    days: 14,
    folder: "Archive",
    lines: ["< From April on passwords need fourteen characters. I help everyone who asks."],
  },
  {
    with: "staff4",
    subject: "Photo selection",
    days: 1,
    unread: true,
    cc: ["staff2"],
    lines: [
      "< Sixty photos are left of four hundred. We choose the last twelve on Wednesday, please look at them before. [selection.zip]",
    ],
  },
  {
    with: "staff5",
    subject: "Lunch with our biggest client",
    days: 2,
    lines: [
      "< {place:cafe} or the market? They are six.",
      "> {place:cafe}, at half past eleven.",
      "< Booked.",
    ],
  },
  {
    with: "staff6",
    subject: "Salary round",
    days: 4,
    labels: ["To answer"],
    lines: ["< Please send me your view on the five of your team by the 16th. Nothing long."],
  },
  {
    with: "staff7",
    subject: "Campaign slogans",
    days: 9,
    lines: [
      "< Nine slogans. I would bury seven of them. [slogans.docx]",
      "> Which two do you keep?",
      "< The one with the ladder and the one without words.",
    ],
  },
  {
    with: "staff8",
    subject: "Typeface decision",
    days: 6,
    cc: ["staff2"],
    lines: [
      "< We need one typeface for everything. My vote is for the old one with new numerals.",
      "> Let us look at both on Friday.",
    ],
  },
  {
    with: "staff9",
    subject: "Support rota for April",
    days: 3,
    lines: ["< You have the second week. Swap with whom you like, but tell me. [rota-april.csv]"],
  },
  {
    with: "staff10",
    subject: "Film for the open evening",
    days: 7,
    lines: [
      "< The film is three minutes long and needs a title. Ideas?",
      "> What about: Everything at once?",
    ],
  },
  {
    with: "staff11",
    subject: "Client survey results",
    days: 2,
    unread: true,
    lines: [
      "< Forty answers, and most of them kind. The two unkind ones are about our phone. [survey.pdf]",
    ],
  },
  {
    with: "staff12",
    subject: "Travel costs of February",
    days: 5,
    labels: ["Receipts"],
    lines: [
      "< The receipt for the taxi in Lyon is missing. Can you find it?",
      "> Here it is. [taxi-lyon.pdf]",
    ],
  },
  {
    with: "staff12",
    subject: "Budget draft",
    days: 1,
    unread: true,
    labels: ["To answer"],
    lines: [
      "< This is the budget as I would sign it. We talk about it tomorrow at two. [budget-draft.xlsx]",
    ],
  },
  {
    with: "staff13",
    subject: "Window cleaning",
    days: 27,
    folder: "Archive",
    lines: ["< On Monday at seven the windows are cleaned. Please take everything off the sills."],
  },
];
