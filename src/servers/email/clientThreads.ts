/** Templates of threads with clients and prospects. */
import type { ThreadTemplate } from "./threadTemplate.ts";

export const clientThreads: readonly ThreadTemplate[] = [
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
];
