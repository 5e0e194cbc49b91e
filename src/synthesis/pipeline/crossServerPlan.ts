/**
 * What a talk over several servers is to be about: one bridge or two that follow one another, the
 * least used ones first, and whether the first call is asked for or goes unsaid. Knows no sessions
 * and no words.
 */
import type { Random } from "../../environment/random.ts";
import type { Task } from "../../trajectory/task.ts";
import type { CrossServerLink } from "../text/crossServerLinks.ts";
import type { LinkStep } from "../user/linkStep.ts";

/** The wishes of a talk over several servers. */
export interface CrossServerPlan {
  readonly steps: ReadonlyMap<string, LinkStep>;
  /** Full names of the tools wished for and read, in order. */
  readonly chain: readonly string[];
  /** Names of the servers that take part, in the order in which they come in. */
  readonly servers: readonly string[];
  /** Names of the bridges, in order. */
  readonly links: readonly string[];
}

/**
 * How often the first call is asked for where it might go unsaid, and how often a second bridge
 * follows.
 */
const shares = { asked: 0.45, second: 0.6 };

const serverIn = (tool: string, servers: readonly string[]) =>
  servers.find(it => tool.startsWith(`${it}_`))!;

/**
 * A plan with this server in it, or undefined where no bridge touches it. `uses` counts by bridge.
 */
export function planCrossServerTask(
  bridges: readonly CrossServerLink[],
  servers: readonly string[],
  home: string,
  uses: ReadonlyMap<string, number>,
  random: Random,
): CrossServerPlan | undefined {
  const endsOf = (it: CrossServerLink) => [serverIn(it.from, servers), serverIn(it.to, servers)];
  const near = bridges.filter(it => !it.second && endsOf(it).includes(home));
  if (near.length === 0) return undefined;
  const rarity = (it: CrossServerLink) => 1 / (1 + (uses.get(it.name) ?? 0)) ** 2;
  const first = random.pickWeighted(near, rarity);
  const followers = bridges.filter(
    it =>
      it.from === first.to && it.after && !(endsOf(first).includes(endsOf(it)[1]!) && it.second),
  );
  const second =
    followers.length > 0 && random.boolean(shares.second)
      ? random.pickWeighted(followers, rarity)
      : undefined;
  return planOf(
    first,
    second,
    first.after !== undefined && (!first.forms || random.boolean(shares.asked)),
    endsOf,
  );
}

/** A plan over these bridges, by name; or undefined where one is missing. */
export function createPlanFromLinks(
  names: readonly string[],
  isAsked: boolean,
  bridges: readonly CrossServerLink[],
  servers: readonly string[],
): CrossServerPlan | undefined {
  const [first, second] = names.map(name => bridges.find(it => it.name === name));
  if (!first || (names.length > 1 && !second)) return undefined;
  return planOf(first, second, isAsked, it => [
    serverIn(it.from, servers),
    serverIn(it.to, servers),
  ]);
}

function planOf(
  first: CrossServerLink,
  second: CrossServerLink | undefined,
  isAsked: boolean,
  endsOf: (it: CrossServerLink) => string[],
): CrossServerPlan {
  const all = second ? [first, second] : [first];
  const steps = new Map<string, LinkStep>();
  if (isAsked) steps.set(`${first.name} from`, { link: first, end: "from" });
  for (const it of all) steps.set(it.name, { link: it, end: "to" });
  return {
    steps,
    chain: [first.from, ...all.map(it => it.to)],
    servers: [...new Set(all.flatMap(endsOf))],
    links: all.map(it => it.name),
  };
}

/**
 * Whether all its servers are called, and a value that one showed is an argument of a call to
 * another, with nobody having said it.
 */
export function connectsServers(
  goals: Task["goals"],
  needed: readonly string[],
  serverOf: (tool: string) => string,
): boolean {
  const called = new Set(goals.flatMap(it => it.calls.map(call => serverOf(call.name))));
  if (!needed.every(it => called.has(it))) return false;
  const servers = (it: Task["goals"][number]) => it.calls.map(call => serverOf(call.name));
  return goals.some(it =>
    it.after.some(
      edge =>
        edge.kind === "explicit" &&
        servers(goals[edge.goal]!).some(server => !servers(it).includes(server)),
    ),
  );
}
