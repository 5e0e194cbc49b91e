/** Chooses the rules that hold in a task: one that may matter, or not, and others. */
import type { Random } from "../../environment/random.ts";
import type { TaskPolicy, TaskRule } from "../../trajectory/taskRules.ts";
import type { ServerRule } from "../text/serverPolicies.ts";

/** How often a rule is about a tool that the conversation calls, and how often its strictest form is chosen. */
const shares = { relevant: 0.95, strictest: 0.9, second: 0.6, third: 0.4, ofOtherServer: 0.3 };

export interface PolicySource {
  /** The server that the conversation is about. */
  readonly home: string;
  readonly otherServers: readonly string[];
  /** Full names of the tools that the conversation probably calls. */
  readonly tools: readonly string[];
  readonly getRules: (server: string) => readonly ServerRule[];
}

/** The rules of a task, or undefined if its server has none. No two are about the same tool. */
export function choosePolicy(
  { home, otherServers, tools, getRules }: PolicySource,
  random: Random,
): TaskPolicy | undefined {
  const own = getRules(home);
  if (own.length === 0) return undefined;
  const isRelevant = ({ forms }: ServerRule) => forms[0]!.tools.some(it => tools.includes(it));
  const relevant = random.boolean(shares.relevant) ? own.filter(isRelevant) : [];
  const first = random.pick(relevant.length > 0 ? relevant : own);
  const form = random.boolean(shares.strictest) ? first.forms[0]! : random.pick(first.forms);
  const rules: TaskRule[] = [form];
  for (const share of [shares.second, shares.third]) {
    if (!random.boolean(share)) continue;
    const isOther = otherServers.length > 0 && random.boolean(shares.ofOtherServer);
    const from = getRules(isOther ? random.pick(otherServers) : home);
    const isFree = ({ forms }: ServerRule) =>
      !forms[0]!.tools.some(tool => rules.some(it => it.tools.includes(tool)));
    const free = from.filter(isFree);
    if (free.length > 0) rules.push(random.pick(random.pick(free).forms));
  }
  return { rules: random.shuffle(rules) };
}
