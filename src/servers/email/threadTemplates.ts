/** The templates of all threads, and the user's own labels. */
import { clientThreads } from "./clientThreads.ts";
import { otherThreads } from "./otherThreads.ts";
import { staffThreads } from "./staffThreads.ts";
import type { ThreadTemplate } from "./threadTemplate.ts";

export const ownLabels: readonly string[] = [
  "Clients",
  "Invoices",
  "Travel",
  "Family",
  "To answer",
  "Contracts",
  "Newsletters",
  "Receipts",
  "Website",
  "Press",
];

/** The threads of every mailbox; the small one has no others. */
export const commonThreads: readonly ThreadTemplate[] = [
  {
    with: "client0a",
    subject: "Kickoff on Tuesday",
    days: 0,
    labels: ["Clients"],
    unread: true,
    cc: ["staff5"],
    lines: [
      "> Shall we begin at eleven on Tuesday? The room is booked.",
      "< Eleven suits us. I bring {client0b} and the signed brief. Is there a projector? [brief-signed.pdf]",
    ],
  },
  {
    with: "client1a",
    subject: "Reminder for invoice 42",
    days: 3,
    labels: ["Clients", "Invoices"],
    lines: [
      "> Invoice 42 over 320 euros was due on 2 March. Could you have a look? [invoice-042.pdf]",
      "< Sorry, it was lost on a desk. We pay it this week.",
    ],
  },
  {
    with: "staff2",
    subject: "Colours for the poster",
    days: 1,
    unread: true,
    lines: [
      "< Blue or green? Both are attached, the printer needs an answer today. [poster-blue.png, poster-green.png]",
    ],
  },
  {
    with: "client2a",
    subject: "Labels for the jam jars",
    days: 12,
    folder: "Archive",
    labels: ["Clients"],
    lines: [
      "< The labels arrived and look wonderful.",
      "> Good to hear! Send me a photo of the shelf.",
    ],
  },
  {
    with: "place:dentist",
    subject: "Your appointment on Thursday",
    days: 4,
    lines: ["< We expect you on Thursday at 8:15. Please tell us a day before if you cannot come."],
  },
  {
    with: "friend0",
    subject: "Birthday dinner",
    days: 2,
    labels: ["Family"],
    lines: [
      "< You have not forgotten the 21st? {place:trattoria} at seven.",
      "> How could I! Shall I bring the cake?",
    ],
  },
  {
    with: "airline",
    subject: "How was your flight to Hamburg?",
    days: 20,
    labels: ["Travel"],
    lines: [
      "< Thank you for flying with us. Your boarding pass is attached for your records. [boarding-pass.pdf]",
    ],
  },
  {
    with: "prize",
    subject: "You have won a cruise",
    days: 1,
    folder: "Spam",
    unread: true,
    lines: ["< Congratulations! Send us your card number and the cruise is yours."],
  },
  {
    with: "staff6",
    subject: "Numbers for quarterly planning",
    days: 0,
    folder: "Sent",
    lines: [
      "> Here are the numbers for Thursday. Ask me if anything is unclear. [numbers-q1.xlsx]",
    ],
  },
];

/** The additional threads of the full mailbox. */
export const extraThreads: readonly ThreadTemplate[] = [
  ...clientThreads,
  ...staffThreads,
  ...otherThreads,
];
