/**
 * The conversations of the generated chats, with roles instead of names. A line is `role|days
 * ago|text|reactions`; an answer to the line before begins with `+`. A role is the index of a staff
 * member, or `g0` for a guest. In texts, `{s2}` is a first name, `@{s2}` mentions that person, and
 * `{client0}` and `{place:cafe}` are names.
 */

export interface ChannelTexts {
  readonly name: string;
  readonly topic?: string;
  readonly kind?: "private";
  readonly owner: number;
  /** Indexes of the staff; everybody if absent. */
  readonly members?: readonly number[];
  readonly guests?: readonly number[];
  readonly announcements?: true;
  /** Days ago. */
  readonly archived?: number;
  readonly conversation: readonly string[];
}

/** A former colleague, who is not in the shared cast. */
export const formerColleague = { name: "Ewa Kranz", user: "ewa" };

/**
 * The channels of both fixtures; in the small one, their members are in `smallStaff`.
 */
export const firstChannels: readonly ChannelTexts[] = [
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
