/**
 * The threads that the mailboxes of all worlds hold, told with roles instead of names: `{they}` and
 * `{firm}` are the correspondent's first name and firm, `{me}` the user's; `{staff2}`, `{client0}`,
 * `{place:cafe}` whoever or whatever has that role.
 */

export interface Told {
  /**
   * `client0a` and `client0b` a client's two contacts, `prospect3`, `staff5`, `friend2`,
   * `place:dentist`, or a firm of this file's list.
   */
  readonly with: string;
  readonly subject: string;
  /** How many days ago the last message came. */
  readonly days: number;
  readonly folder?: "Inbox" | "Sent" | "Archive" | "Spam";
  readonly labels?: readonly string[];
  /** Who else is on all of it. */
  readonly cc?: readonly string[];
  /** The last message has not been read. */
  readonly unread?: true;
  /**
   * `<` from the correspondent, `>` from the user; names of attachments stand in brackets at the
   * end.
   */
  readonly lines: readonly string[];
}

/** Firms that only send mail: name, address, and whether they read any. */
export const senders: Readonly<
  Record<string, { readonly name: string; readonly email: string; readonly isDeaf: boolean }>
> = {
  airline: { name: "Skyline Airways", email: "no-reply@skyline.example", isDeaf: true },
  rail: { name: "Railway Booking", email: "tickets@railway.example", isDeaf: true },
  cloud: { name: "Cloudbox", email: "no-reply@cloudbox.example", isDeaf: true },
  fonts: { name: "Typeworks Foundry", email: "hello@typeworks.example", isDeaf: false },
  paper: { name: "Papermill Weekly", email: "news@papermill.example", isDeaf: true },
  fair: { name: "Design Fair Office", email: "office@designfair.example", isDeaf: false },
  prize: { name: "Lucky Prize Centre", email: "winner@luckyprize.example", isDeaf: false },
  loans: { name: "Quick Loan Desk", email: "offers@quickloan.example", isDeaf: false },
  postmaster: { name: "Mail Delivery", email: "postmaster@mail.example", isDeaf: true },
};

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

/** What every world's mailbox begins with; the small one has no more. */
export const firstThreads: readonly Told[] = [
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

export const moreThreads: readonly Told[] = [
  {
    with: "client0a",
    subject: "Two questions on the contract",
    days: 3,
    labels: ["Clients", "Contracts"],
    lines: [
      "< Our lawyers have read it and have two questions: who owns the photos, and what happens if we move the launch?",
      "> The photos are yours for three years, and a move of up to four weeks costs nothing.",
      "< Perfect, then I take it to the board on Monday.",
    ],
  },
  {
    with: "client0b",
    subject: "Login for the claims portal",
    days: 6,
    labels: ["Website"],
    cc: ["staff1"],
    lines: [
      "< {staff1} needs access to the test server. Whom do I write to on your side?",
      "> To {staff1} directly, with me in copy.",
      "< Done. The access works until the end of April.",
    ],
  },
  {
    with: "client0a",
    subject: "Invoice 46",
    days: 5,
    labels: ["Invoices"],
    folder: "Archive",
    lines: [
      "> Attached is invoice 46 over 1820 euros, due on 27 March. [invoice-046.pdf]",
      "< Thank you, it is with our accounts.",
    ],
  },
  {
    with: "client0b",
    subject: "Photos of the Hamburg office",
    days: 15,
    folder: "Archive",
    lines: [
      "< Here are the photos of the entrance and the stairs. [entrance.jpg, stairs.jpg]",
      "> Exactly what we needed.",
    ],
  },
  {
    with: "client1a",
    subject: "Spring catalogue proposal",
    days: 2,
    labels: ["Clients", "To answer"],
    unread: true,
    lines: [
      "> The proposal for the spring catalogue is attached. It holds until the end of March. [catalogue-proposal.pdf]",
      "< We like it a lot. Can you make it in French as well, and what would that cost?",
    ],
  },
  {
    with: "client1a",
    subject: "Visit to the studio",
    days: 4,
    labels: ["Clients"],
    lines: [
      "< Thank you for showing us around on Thursday. The rooftop is the place for our photos!",
      "> It is yours for an afternoon whenever you like.",
    ],
  },
  {
    with: "client1a",
    subject: "Trade fair stand on hold",
    days: 18,
    folder: "Archive",
    labels: ["Clients"],
    lines: [
      "< The fair is moved to autumn, so we have to let the stand rest until May.",
      "> Understood. I keep the drafts until then.",
    ],
  },
  {
    with: "client2a",
    subject: "Shelf check on Thursday",
    days: 1,
    unread: true,
    labels: ["Clients"],
    cc: ["staff7"],
    lines: [
      "< The new boxes are on the shelves. Could you and {staff7} be at the market hall at four on Thursday?",
    ],
  },
  {
    with: "client2a",
    subject: "Invoice 43 is overdue",
    days: 2,
    labels: ["Invoices", "To answer"],
    lines: [
      "> Invoice 43 over 420 euros was due on 5 March. Did it reach you? [invoice-043.pdf]",
      "< It did, but the order number is missing. Can you send it again with 7714 on it?",
    ],
  },
  {
    with: "client2b",
    subject: "Tasting notes",
    days: 17,
    folder: "Archive",
    lines: [
      "< What we said about each jar is in the table. The apricot has won. [tasting.xlsx]",
      "> I would have voted for the fig.",
    ],
  },
  {
    with: "client2b",
    subject: "Packaging proofs",
    days: 1,
    labels: ["Clients"],
    lines: [
      "< The proofs come by courier on Monday before lunch. Please sign and send them back the same day.",
      "> I will be there. Do you need the old ones back?",
    ],
  },
  {
    with: "prospect0",
    subject: "Booking page for our hotels",
    days: 7,
    labels: ["Clients"],
    lines: [
      "< We need a booking page that works on phones. Would you do something so small?",
      "> Gladly. How many houses are there, and do you have photos?",
      "< Five houses, and photos of four. The fifth opens in June.",
    ],
  },
  {
    with: "prospect1",
    subject: "About the book trailer",
    days: 25,
    folder: "Archive",
    lines: [
      "< We have decided for a cheaper offer this time. I hope there will be another book.",
      "> I hope so too. Good luck with the launch!",
    ],
  },
  {
    with: "prospect2",
    subject: "Robots need a face",
    days: 5,
    labels: ["To answer"],
    unread: true,
    lines: [
      "< Our robots are good and our website is not. {they} from the fair, you gave me your card. Could we talk next week?",
    ],
  },
  {
    with: "prospect3",
    subject: "Stickers for two hundred scooters",
    days: 9,
    lines: [
      "< Could you design stickers that survive the rain? We have two hundred scooters.",
      "> Yes, the printer has a film for that. I send you a price tomorrow.",
    ],
  },
  {
    with: "prospect5",
    subject: "Catalogue photos",
    days: 11,
    folder: "Archive",
    lines: [
      "< Forty chairs, one day, one photographer: is that possible?",
      "> With two assistants it is. I ask {staff4} for a day in April.",
    ],
  },
  {
    with: "prospect6",
    subject: "A label for the new red",
    days: 13,
    lines: [
      "< The new red needs a label by May. Old paper, little text, please.",
      "> I have an idea already. Could you send us a bottle, only for the size of course?",
      "< Two bottles are on their way.",
    ],
  },
  {
    with: "prospect9",
    subject: "Tender for the museum guide",
    days: 6,
    labels: ["To answer"],
    unread: true,
    lines: [
      "< The tender for the museum guide closes on 30 March. The conditions are attached. [tender.pdf]",
    ],
  },
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

export interface ToldDraft {
  readonly subject: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly days: number;
  readonly attachments?: readonly string[];
}

/** The first two are in every world: one that may be sent, and one that has no recipients. */
export const toldDrafts: readonly ToldDraft[] = [
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
