/** Templates of threads with friends, places and companies. */
import type { ThreadTemplate } from "./threadTemplate.ts";

export const otherThreads: readonly ThreadTemplate[] = [
  {
    with: "friend0",
    subject: "Grandmother's recipes",
    days: 30,
    folder: "Archive",
    labels: ["Family"],
    lines: [
      "< I have scanned the whole box. Half of it is cake. [recipes.zip]",
      "> You are a hero.",
    ],
  },
  {
    with: "friend1",
    subject: "Sunday visit",
    days: 3,
    labels: ["Family"],
    lines: [
      "< Come on Sunday, the garden is awake. I make the soup you like.",
      "> I come at noon and bring bread from {place:bakery}.",
    ],
  },
  {
    with: "friend2",
    subject: "Dinner on Friday",
    days: 4,
    lines: [
      "< Friday at half past seven? I have news.",
      "> Yes! At yours or shall we go out?",
      "< Out. I have booked at {place:sushi}.",
    ],
  },
  {
    with: "friend3",
    subject: "Weekend in the mountains",
    days: 8,
    labels: ["Travel"],
    lines: [
      "< The hut is free in May. Are you in? We are five so far.",
      "> I am in. Who has a car?",
    ],
  },
  {
    with: "friend4",
    subject: "Your book is here",
    days: 16,
    folder: "Archive",
    lines: [
      "< I have your book since Christmas. You may have it back against coffee at {place:cafe}.",
    ],
  },
  {
    with: "friend5",
    subject: "Flat for the summer",
    days: 12,
    lines: [
      "< My flat is free in July and August. Do you know somebody quiet?",
      "> Perhaps a colleague from Lyon. I ask.",
    ],
  },
  {
    with: "friend6",
    subject: "Choir concert",
    days: 1,
    unread: true,
    lines: [
      "< We sing on the 29th at {place:theatre}. There are two tickets with your name on them.",
    ],
  },
  {
    with: "place:printer",
    subject: "Price for two thousand folders",
    days: 6,
    labels: ["To answer"],
    lines: [
      "> What would two thousand folders cost, on the paper of last time?",
      "< 1140 euros, ready ten days after your files. The offer holds for a month. [offer-2000.pdf]",
    ],
  },
  {
    with: "place:paper",
    subject: "Your order is ready",
    days: 2,
    unread: true,
    lines: ["< The grey paper has come. We keep it at the counter until Saturday."],
  },
  {
    with: "place:garage",
    subject: "Inspection on 24 March",
    days: 9,
    lines: [
      "< We expect your car on 24 March at eight. It takes about two hours.",
      "> Please look at the left front tyre as well.",
    ],
  },
  {
    with: "place:bank",
    subject: "Your statement for February",
    days: 6,
    labels: ["Receipts"],
    folder: "Archive",
    lines: [
      "< Your statement for February is ready. You find it attached. [statement-february.pdf]",
    ],
  },
  {
    with: "place:pottery",
    subject: "Kiln news",
    days: 5,
    lines: [
      "< Your bowls have survived. The tall vase has not, and we are sorry.",
      "> It was brave of it to try.",
    ],
  },
  {
    with: "place:museum",
    subject: "Opening of the harbour room",
    days: 10,
    folder: "Archive",
    labels: ["Press"],
    lines: [
      "< We would be glad to see you at the opening on Saturday. The invitation is attached. [invitation.pdf]",
    ],
  },
  {
    with: "place:hotel",
    subject: "Rooms for our guests",
    days: 19,
    folder: "Archive",
    labels: ["Travel"],
    lines: [
      "> Do you have three single rooms on 12 March?",
      "< Three rooms are kept for you until the 10th, at 95 euros each.",
    ],
  },
  {
    with: "rail",
    subject: "Your ticket to Madrid",
    days: 22,
    folder: "Archive",
    labels: ["Travel"],
    lines: ["< Thank you for travelling by train. Coach 4, seat 21. [ticket-madrid.pdf]"],
  },
  {
    with: "cloud",
    subject: "Your storage is almost full",
    days: 1,
    unread: true,
    lines: ["< You use 93 of 100 gigabytes. Delete something or choose a larger plan."],
  },
  {
    with: "fonts",
    subject: "Licence for four desks",
    days: 13,
    labels: ["Receipts"],
    lines: [
      "> We need the licence for one more desk, five in all.",
      "< Five desks are 180 euros a year. Shall we bill the difference?",
    ],
  },
  {
    with: "paper",
    subject: "Ten papers worth touching",
    days: 2,
    labels: ["Newsletters"],
    unread: true,
    lines: ["< This week: cotton, bamboo, and a paper made of apples."],
  },
  {
    with: "paper",
    subject: "How to fold a map",
    days: 9,
    labels: ["Newsletters"],
    folder: "Archive",
    lines: ["< This week: why maps never fold back, and what to do about it."],
  },
  {
    with: "fair",
    subject: "Stand 14 is yours",
    days: 21,
    labels: ["Press"],
    lines: [
      "< Your stand at the Design Fair is number 14, near the entrance. The plan is attached. [plan.pdf]",
      "> Thank you. May we come the evening before?",
      "< From five o'clock on.",
    ],
  },
  {
    with: "loans",
    subject: "Money within minutes",
    days: 3,
    folder: "Spam",
    unread: true,
    lines: ["< No questions asked! Answer today and get 5000 euros tomorrow."],
  },
  {
    with: "prize",
    subject: "Last chance for your cruise",
    days: 0,
    folder: "Spam",
    unread: true,
    lines: ["< Your cabin is waiting, but not for long. Only your card number is missing."],
  },
  {
    with: "postmaster",
    subject: "Message could not be delivered",
    days: 16,
    lines: [
      "< Your message to {email:client1b} came back: there is no such mailbox. Nothing else needs to be done.",
    ],
  },
  {
    with: "client1b",
    subject: "Catalogue texts in French",
    days: 16,
    folder: "Sent",
    lines: [
      "> Could you read the French texts before they are set? There are only four pages. [texts-fr.docx]",
    ],
  },
];
