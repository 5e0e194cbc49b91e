/** Templates of drafts. */

export interface DraftTemplate {
  readonly subject: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly days: number;
  readonly attachments?: readonly string[];
}

/** The first two are in every mailbox: one that can be sent, and one without recipients. */
export const draftTemplates: readonly DraftTemplate[] = [
  {
    subject: "Concept review",
    to: ["client0a"],
    text: "Before we meet on the 24th I would like to show you two directions. Do you have half an hour this week?",
    days: 1,
    attachments: ["concept.pdf"],
  },
  {
    subject: "Open studio evening",
    to: [],
    text: "On the 20th we open the studio to friends and clients. Come at half past five, there is soup.",
    days: 3,
  },
  { subject: "French texts", to: ["client1b"], text: "Did my last message reach you?", days: 9 },
  {
    subject: "Summer holidays",
    to: ["staff6"],
    text: "I would like to be away in the first two weeks of August.",
    days: 6,
  },
  {
    subject: "Thank you for the concert",
    to: ["friend6"],
    text: "It was wonderful, and much too short.",
    days: 2,
  },
  {
    subject: "Second variant of the logo",
    to: ["staff2", "staff8"],
    text: "I have slept over it and now prefer the second variant, with thinner lines.",
    days: 1,
    attachments: ["logo-b.svg"],
  },
  {
    subject: "Price for the folders",
    to: ["place:printer"],
    text: "Please keep the price until the end of April, we are waiting for the texts.",
    days: 4,
  },
  {
    subject: "Ideas for the spring campaign",
    to: [],
    text: "A ladder, a kite, somebody asleep under a tree.",
    days: 7,
  },
];
