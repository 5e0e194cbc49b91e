/**
 * Plans a conversation across servers: one link, or two that follow one another, the least used
 * first, and whether the user asks for the first call or only for what is done with its result.
 */
import type { Catalog } from "../../../environment/catalog.ts";
import type { Random } from "../../../environment/random.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { UseCounts } from "../../graph/chains.ts";
import type { CrossServerLink } from "../../text/crossServerLinks.ts";
import type { LinkStep } from "../../user/userPlan.ts";

export interface CrossServerPlan {
  /** What the user asks for, by name. */
  readonly steps: ReadonlyMap<string, LinkStep>;
  /** Full names of the tools of the links, in order. */
  readonly chain: readonly string[];
  /** Names of the servers that take part, in the order in which they are first used. */
  readonly servers: readonly string[];
  /** Names of the links, in order. */
  readonly links: readonly string[];
}

/** How often the user asks for the first call where there is a choice, and for a second link. */
const shares = { requested: 0.45, second: 0.6 };

interface LinkSource {
  readonly links: readonly CrossServerLink[];
  readonly servers: readonly string[];
  /** The servers that a task can begin on. */
  readonly homes: readonly string[];
  /** The server that takes part. */
  readonly home: string;
  /** How often each link has been used, by name. */
  readonly uses: UseCounts;
}

/** A plan with the home server in it, or undefined if no link starts or ends there. */
export function planCrossServerTask(
  { links, servers, homes, home, uses }: LinkSource,
  random: Random,
): CrossServerPlan | undefined {
  const candidates = links.filter(
    it =>
      !it.second &&
      listServers([it], servers).includes(home) &&
      homes.includes(findServerOf(it.from, servers)),
  );
  if (candidates.length === 0) return undefined;
  const getWeight = (it: CrossServerLink) => 1 / (1 + (uses.get(it.name) ?? 0)) ** 2;
  const first = random.pickWeighted(candidates, getWeight);
  const returnsToFirst = (it: CrossServerLink) =>
    listServers([first], servers).includes(findServerOf(it.to, servers));
  const followers = links.filter(
    it => it.from === first.to && it.after && !(it.second && returnsToFirst(it)),
  );
  const second =
    followers.length > 0 && random.boolean(shares.second)
      ? random.pickWeighted(followers, getWeight)
      : undefined;
  const isRequested =
    first.after !== undefined && (!first.forms || random.boolean(shares.requested));
  return createPlan(second ? [first, second] : [first], isRequested, servers);
}

/** The plan with the names and dates that its links have in the world of a fixture. */
export function localizePlan(
  plan: CrossServerPlan,
  catalog: Catalog,
  fixture: string,
): CrossServerPlan {
  const links = new Map([...plan.steps.values()].map(it => [it.link, it.link]));
  for (const link of links.keys()) links.set(link, catalog.localize(link, fixture));
  const steps = [...plan.steps].map(
    ([name, it]) => [name, { ...it, link: links.get(it.link)! }] as const,
  );
  return { ...plan, steps: new Map(steps) };
}

/** The plan over these links, by name, or undefined if one does not exist. */
export function createPlanFromLinks(
  names: readonly string[],
  isRequested: boolean,
  links: readonly CrossServerLink[],
  servers: readonly string[],
): CrossServerPlan | undefined {
  const [first, second] = names.map(name => links.find(it => it.name === name));
  if (!first || (names.length > 1 && !second)) return undefined;
  return createPlan(second ? [first, second] : [first], isRequested, servers);
}

function createPlan(
  links: readonly [CrossServerLink, ...CrossServerLink[]],
  isRequested: boolean,
  servers: readonly string[],
): CrossServerPlan {
  const [first] = links;
  const steps = new Map<string, LinkStep>();
  if (isRequested) steps.set(`${first.name} from`, { link: first, end: "from" });
  for (const link of links) steps.set(link.name, { link, end: "to" });
  return {
    steps,
    chain: [first.from, ...links.map(it => it.to)],
    servers: listServers(links, servers),
    links: links.map(it => it.name),
  };
}

const listServers = (links: readonly CrossServerLink[], servers: readonly string[]): string[] => [
  ...new Set(links.flatMap(it => [findServerOf(it.from, servers), findServerOf(it.to, servers)])),
];

const findServerOf = (tool: string, servers: readonly string[]): string =>
  servers.find(it => tool.startsWith(`${it}_`))!;

/**
 * Whether all needed servers are called, and a call takes a value from another server's result that
 * the user has not said.
 */
export function connectsServers(
  goals: Task["goals"],
  needed: readonly string[],
  getServer: (tool: string) => string,
): boolean {
  const listServersOf = (goal: Task["goals"][number]) =>
    goal.calls.map(call => getServer(call.name));
  const called = new Set(goals.flatMap(listServersOf));
  if (!needed.every(it => called.has(it))) return false;
  return goals.some(goal =>
    goal.after.some(
      edge =>
        edge.kind === "explicit" &&
        listServersOf(goals[edge.goal]!).some(it => !listServersOf(goal).includes(it)),
    ),
  );
}
