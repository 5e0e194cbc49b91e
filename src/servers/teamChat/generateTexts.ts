/**
 * What the chats of all worlds talk about, told with roles instead of names. A line is `who|days
 * ago|text|reactions`, an answer to the line before it begins with `+`; `who` counts the staff,
 * `g0` the guests. In texts `{s2}` is a first name, `@{s2}` mentions that person, `{client0}` and
 * `{place:cafe}` say what they say.
 */

export interface ToldChannel {
  readonly name: string;
  readonly topic?: string;
  readonly kind?: "private";
  readonly owner: number;
  /** Of the staff; everybody where absent. */
  readonly members?: readonly number[];
  readonly guests?: readonly number[];
  readonly announcements?: true;
  /** Days ago. */
  readonly archived?: number;
  readonly conversation: readonly string[];
}

/** Who left the studio before the canon's people were counted. */
export const formerColleague = { name: "Ewa Kranz", user: "ewa" };

/**
 * What every world has; the small one has no more, and only those of the staff who are named here.
 */
export const firstChannels: readonly ToldChannel[] = [
  {
    name: "general",
    topic: "What concerns all of us",
    owner: 6,
    conversation: [
      "6|3|The new plotter comes on Wednesday. @{s3}, is there a socket left?|thumbs_up 1,2",
      "+3|3|One, behind the plants.|laugh 0,6",
      "2|1|Who has seen the blue folder with the samples?|",
      "1|0|Good morning! The room by the window is free until noon.|check 0",
    ],
  },
  {
    name: "announcements",
    topic: "For everybody to read",
    owner: 6,
    announcements: true,
    conversation: [
      "6|6|The studio is closed on Good Friday, 3 April.|heart 1,3",
      "+1|6|And on the Monday after?|",
      "+6|5|That one as well.",
    ],
  },
  {
    name: "client-{slug0}",
    topic: "All about {client0}",
    kind: "private",
    owner: 0,
    members: [0, 2, 5, 6],
    guests: [0],
    conversation: [
      "5|4|{client0} has signed! Kickoff is on Tuesday at eleven.|party 2,6",
      "+0|4|Wonderful. I book the big room.|",
      "g0|1|Can you send me the agenda before Tuesday, @{s0}?|",
    ],
  },
  {
    name: "website",
    topic: "Our own site, and whose turn it is",
    owner: 1,
    members: [0, 1, 3, 6],
    conversation: [
      "1|2|The new start page is on the test server. @{s0}, please click everything.|eyes 0",
      "3|9|Certificates are renewed until December.|thumbs_up 1",
    ],
  },
  {
    name: "lunch",
    topic: "Who eats where",
    owner: 2,
    members: [1, 2, 3],
    conversation: ["2|0|{place:tacos} at half past twelve, who is in?|thumbs_up 1"],
  },
  {
    name: "salaries",
    kind: "private",
    owner: 6,
    members: [5, 6],
    conversation: ["6|5|Please keep this between us until April.|"],
  },
  {
    name: "summer-party",
    topic: "On the roof, in August",
    owner: 0,
    members: [0, 2, 5],
    archived: 20,
    conversation: ["2|190|The lamps go back to the shop on Monday.|check 0"],
  },
  { name: "poster-series", owner: 0, members: [0, 2], conversation: ["2|1|Blue or green?|"] },
];

export const moreChannels: readonly ToldChannel[] = [
  {
    name: "client-{slug1}",
    topic: "All about {client1}",
    owner: 5,
    members: [0, 1, 2, 4, 5, 6],
    guests: [1],
    conversation: [
      "5|6|They want the catalogue in French as well. How much is that, @{s0}?|eyes 2",
      "+0|6|A third more, I would say.|thumbs_up 5",
      "g1|3|Our photographer comes with you to the rooftop, if that is all right.|heart 4",
      "4|2|The light is best at four.|",
      "5|1|Stand is on hold until May, please stop all work on it.|check 0,2",
    ],
  },
  {
    name: "client-{slug2}",
    topic: "All about {client2}",
    owner: 7,
    members: [0, 4, 7, 8],
    guests: [2],
    conversation: [
      "7|5|Proofs of the boxes come on Monday before lunch.|",
      "g2|4|The apricot label needs a larger fig. No, I mean a larger apricot.|laugh 0,7,8",
      "+8|4|It gets both.|party 4",
      "7|2|Shelf check on Thursday at four. @{s0}, are you coming?|",
      "4|1|Sample jars are in the fridge, do not eat them.|eyes 0",
    ],
  },
  {
    name: "design",
    topic: "Work in progress, kind words, hard questions",
    owner: 8,
    conversation: [
      "8|7|Old typeface or new one? Arguments here, please.|eyes 2,4",
      "+2|7|Old, with new numerals.|thumbs_up 8",
      "+0|6|Old, and larger.|",
      "2|5|Three logo variants are in the folder.|fire 4,8",
      "4|3|Printed both greens, they hang at the window.|",
      "10|2|The contrast of the pale grey is too low for texts.|check 2,8",
      "2|0|Please no more than two weights on one page.|heart 8",
    ],
  },
  {
    name: "photo",
    topic: "Shoots, selections and borrowed cameras",
    owner: 4,
    members: [0, 2, 4, 8, 10],
    conversation: [
      "4|8|Camera two is at the doctor, back on Friday.|",
      "4|4|Sixty photos are left of four hundred.|party 0,2",
      "+10|4|Which twelve go?|",
      "8|2|I need somebody to hold the reflector on Friday at one.|",
      "+0|2|I can.|thanks 8",
      "10|1|The small tripod has lost a foot.|laugh 4",
    ],
  },
  {
    name: "print",
    topic: "Paper, ink and deadlines at the printer",
    owner: 4,
    members: [0, 2, 3, 4, 13],
    conversation: [
      "13|10|Grey paper is ordered, two boxes.|thumbs_up 0",
      "4|5|{place:printer} keeps the price for the folders until the end of April.|check 0",
      "3|3|The big printer prints only when nobody looks.|laugh 0,2,4",
      "+13|3|I have looked. It wanted paper.|",
      "2|1|Files for the poster go out tonight.|fire 4",
    ],
  },
  {
    name: "it-help",
    topic: "Something does not work",
    owner: 3,
    conversation: [
      "9|6|My mail asks for a password every hour.|",
      "+3|6|Old certificate. Restart and tell me.|",
      "+9|5|It is quiet now, thank you.|thanks 3",
      "12|4|The shared folder is slow since Tuesday.|eyes 3",
      "3|2|From April on passwords need fourteen characters.|",
      "11|1|Who can open the archive of 2019?|",
      "+3|0|I can, give me an hour.|",
    ],
  },
  {
    name: "hiring",
    kind: "private",
    owner: 6,
    members: [0, 2, 6, 8],
    conversation: [
      "6|9|Eleven applications for the junior designer.|party 0",
      "+2|8|Four of them are very good.|",
      "8|5|The portfolio with the bridges is my favourite.|heart 2",
      "6|1|Please give me your three names by Thursday, @{s0}.|",
    ],
  },
  {
    name: "random",
    topic: "Everything else",
    owner: 11,
    conversation: [
      "11|8|There is a seagull in the stairwell.|laugh 0,1,3,4",
      "+13|8|Was. It has left with a croissant.|laugh 0,11",
      "10|4|My film of the harbour has won a small prize!|party 0,2,4,8",
      "9|3|Does anybody need a sofa? Green, friendly, heavy.|",
      "1|2|The coffee machine says hello in Dutch.|eyes 11",
    ],
  },
  {
    name: "music",
    topic: "What we listen to",
    owner: 10,
    members: [1, 4, 9, 10, 11],
    conversation: [
      "10|7|The pianist from the open evening has a record.|heart 9",
      "9|2|Two tickets left for {place:concert} on Saturday.|",
    ],
  },
  {
    name: "plants",
    topic: "Who waters whom",
    owner: 13,
    members: [0, 8, 12, 13],
    conversation: [
      "13|9|The fig has a new leaf.|heart 8,12",
      "12|4|Watered everything but the cactus.|thanks 13",
      "8|1|The cactus is blooming. It must be spite.|laugh 0,13",
    ],
  },
  {
    name: "bikes",
    topic: "Repairs, routes and rain",
    owner: 1,
    members: [1, 3, 9],
    conversation: [
      "3|5|{place:velo} mends brakes while you wait.|thumbs_up 9",
      "9|1|Sunday tour to the lighthouse, sixty kilometres.|",
    ],
  },
  {
    name: "launch",
    topic: "Website launch on 2 April",
    owner: 1,
    members: [0, 1, 2, 3, 10],
    conversation: [
      "1|8|The checklist has forty points. Half of them are done.|thumbs_up 0",
      "10|6|Forms cannot be used with the keyboard yet.|eyes 1",
      "+1|5|Mended.|thanks 10",
      "3|3|The old site stays readable for a month.|check 1",
      "1|1|@{s0}, the texts for the start page are missing.|",
      "2|0|Icons are in.|party 1",
    ],
  },
  {
    name: "budget",
    kind: "private",
    owner: 12,
    members: [0, 6, 12],
    conversation: [
      "12|6|February is closed: a little better than planned.|party 6",
      "12|3|The taxi receipt from Lyon is missing, @{s0}.|",
      "+0|3|Sent.|thanks 12",
      "6|1|We talk about the draft tomorrow at two.|check 0,12",
    ],
  },
  {
    name: "invoices",
    topic: "Sent, paid, late",
    owner: 12,
    members: [0, 5, 7, 11, 12],
    conversation: [
      "12|7|38 to 41 are paid.|party 0,5",
      "12|4|42 and 43 are late. {s5} and {s7}, please call.|",
      "+5|4|{client1} pays this week.|",
      "11|2|Where do I find the template?|",
      "+12|2|In the folder called templates.|laugh 0,11",
    ],
  },
  {
    name: "open-evening",
    topic: "20 March, half past five",
    owner: 0,
    members: [0, 2, 4, 6, 10, 11, 13],
    conversation: [
      "0|9|Who makes the soup?|",
      "+13|9|I do. Two kinds.|heart 0,2,11",
      "10|7|The film needs a title.|",
      "11|4|Forty guests have said yes.|party 0,6",
      "2|1|Posters hang in the whole street.|fire 0",
    ],
  },
  {
    name: "press",
    owner: 11,
    members: [0, 6, 11],
    conversation: [
      "11|12|The local paper comes to the open evening.|party 0",
      "6|4|Nobody says anything about the tender, please.|check 0,11",
      "11|2|Press kit has a new cover, what do you think, @{s0}?|",
    ],
  },
  {
    name: "tender-museum",
    kind: "private",
    owner: 0,
    members: [0, 5, 6, 8],
    conversation: [
      "0|6|The tender closes on 30 March. I write the concept, who takes the prices?|",
      "+5|6|I do.|thanks 0",
      "8|3|Sketches for the guide are in the folder.|fire 0,6",
      "6|1|Forty pages is too much. Twenty.|thumbs_up 5",
    ],
  },
  {
    name: "robots",
    topic: "Is this a client?",
    owner: 5,
    members: [1, 5, 10],
    conversation: [
      "5|5|A maker of robots has asked for a website.|eyes 1,10",
      "10|4|Do the robots read it as well?|laugh 5",
    ],
  },
  {
    name: "accessibility",
    topic: "For everybody means everybody",
    owner: 10,
    members: [0, 1, 2, 8, 10],
    conversation: [
      "10|9|Office hour on Wednesday at half past one.|thumbs_up 1,8",
      "1|5|Screen reader reads our menu twice.|",
      "+10|5|Because it is there twice.|laugh 0,1",
      "10|2|Please give every image a text. Not image.|check 2",
    ],
  },
  {
    name: "film",
    topic: "Three minutes at most",
    owner: 10,
    members: [4, 10],
    conversation: [
      "10|6|Title found: Everything at once.|heart 4",
      "4|2|Sound is too quiet in the second minute.|",
    ],
  },
  {
    name: "support",
    topic: "Calls, rota and kind answers",
    owner: 9,
    members: [0, 3, 9, 12],
    conversation: [
      "9|6|Rota for April is in the folder. @{s0}, you have the second week.|check 0",
      "3|4|Three calls about the same form today.|eyes 9",
      "9|1|A client has sent cake. An actual cake.|party 0,3,12",
    ],
  },
  {
    name: "books",
    topic: "Read, borrowed, never given back",
    owner: 8,
    members: [2, 8, 9, 11],
    conversation: ["8|14|The book about grids is back!|party 2", "11|3|Who has the atlas?|"],
  },
  {
    name: "spring-campaign",
    topic: "A ladder, a kite, and what comes next",
    owner: 7,
    members: [0, 2, 7, 8],
    guests: [2],
    conversation: [
      "7|7|Nine slogans, I would bury seven.|laugh 0,2",
      "+0|6|Which two stay?|",
      "g2|4|We like the ladder.|thumbs_up 7",
      "2|2|Colours are warm now, please look.|",
      "7|1|Brainstorm on the 20th at ten.|check 0,8",
    ],
  },
  {
    name: "server-move",
    owner: 3,
    members: [0, 1, 3, 9],
    archived: 2,
    conversation: [
      "3|6|Moving tonight at eight.|",
      "3|3|All sites run on the new server.|party 0,1,9",
      "+1|3|Even faster than before.|",
    ],
  },
  {
    name: "trade-fair",
    topic: "Stand 14",
    owner: 0,
    members: [0, 4, 5, 11],
    archived: 12,
    conversation: [
      "11|30|We have stand 14, near the entrance.|party 0",
      "5|18|It moves to autumn, so let us stop here.|check 0,4",
    ],
  },
  {
    name: "winter-cards",
    owner: 8,
    members: [0, 2, 8],
    archived: 60,
    conversation: ["8|80|All cards are out.|party 0,2"],
  },
  {
    name: "key-accounts",
    kind: "private",
    owner: 5,
    members: [5, 7, 11],
    conversation: ["5|3|Three offers are out, two look good.|"],
  },
  {
    name: "running",
    topic: "Slow people welcome",
    owner: 11,
    members: [9, 11, 12],
    conversation: ["11|2|Thursday at seven, from the ferry and back.|thumbs_up 9,12"],
  },
];
