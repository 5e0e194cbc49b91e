/** Chooses the policy of a task: rules that may matter, or not, and the page that says them. */
import type { Random } from "../../../environment/random.ts";
import type { Json } from "../../../environment/json.ts";
import type { TaskPolicy, TaskRule } from "../../../trajectory/taskRules.ts";
import { renderPolicyPage, type Conduct } from "../../text/policyPages.ts";
import type { ServerPolicies, ServerRule } from "../../text/serverPolicies.ts";

/**
 * How often the rules are on a page, with all those of the server and of the others on the menu.
 * How often a page wants every write confirmed. Of a few rules, how often the first is about a tool
 * that the conversation calls. How often the strictest form of a rule is chosen.
 */
const ruleShares = {
  page: 0.5,
  allConfirmed: 0.5,
  relevant: 0.95,
  strictest: 0.9,
  second: 0.6,
  third: 0.4,
  ofOtherServer: 0.3,
};

/** What servers declare, and what every page says. */
export interface PolicyTexts {
  readonly getPolicies: (server: string) => ServerPolicies;
  readonly conduct: Conduct;
}

interface PolicySource {
  /** The server that the conversation is about, and its state. */
  readonly home: string;
  readonly state: Json;
  readonly otherServers: readonly string[];
  /** Full names of the tools that the conversation probably calls. */
  readonly tools: readonly string[];
}

/** The policy of a task, or undefined if its server has no rules. */
export function choosePolicy(
  source: PolicySource,
  texts: PolicyTexts,
  random: Random,
): TaskPolicy | undefined {
  const { home, state, otherServers } = source;
  const { getPolicies, conduct } = texts;
  if (getPolicies(home).rules.length === 0) return undefined;
  if (!random.boolean(ruleShares.page)) return { rules: chooseFewRules(source, texts, random) };
  const parts = [home, ...otherServers].map(server => {
    const { page, rules } = getPolicies(server);
    const own = { server, page, rules: chooseAllRules(rules, random) };
    return server === home ? { ...own, state } : own;
  });
  return {
    rules: parts.flatMap(it => it.rules),
    page: renderPolicyPage(parts, conduct),
  };
}

/** One form of each rule of a server; those that every write is confirmed, or those of some tools. */
function chooseAllRules(own: readonly ServerRule[], random: Random): readonly TaskRule[] {
  const general = own.filter(it => it.isGeneral);
  const special = own.filter(it => !it.isGeneral);
  const order = random.boolean(ruleShares.allConfirmed) ? [...general, ...special] : special;
  const rules: TaskRule[] = [];
  for (const it of order) if (isFree(it, rules)) rules.push(chooseForm(it, random));
  return rules;
}

/** One to three rules, the first of which probably matters. */
function chooseFewRules(
  { home, otherServers, tools }: PolicySource,
  { getPolicies }: PolicyTexts,
  random: Random,
): TaskRule[] {
  const own = getPolicies(home).rules.filter(it => !it.isGeneral);
  const isRelevant = ({ forms }: ServerRule) => forms[0]!.tools.some(it => tools.includes(it));
  const relevant = random.boolean(ruleShares.relevant) ? own.filter(isRelevant) : [];
  const rules: TaskRule[] = [chooseForm(random.pick(relevant.length > 0 ? relevant : own), random)];
  for (const share of [ruleShares.second, ruleShares.third]) {
    if (!random.boolean(share)) continue;
    const isOther = otherServers.length > 0 && random.boolean(ruleShares.ofOtherServer);
    const from = getPolicies(isOther ? random.pick(otherServers) : home).rules;
    const free = from.filter(it => !it.isGeneral && isFree(it, rules));
    if (free.length > 0) rules.push(random.pick(random.pick(free).forms));
  }
  return random.shuffle(rules);
}

const chooseForm = ({ forms }: ServerRule, random: Random): TaskRule =>
  random.boolean(ruleShares.strictest) ? forms[0]! : random.pick(forms);

/** Whether no rule demands the same of one of its tools. */
const isFree = ({ forms }: ServerRule, rules: readonly TaskRule[]): boolean =>
  !rules.some(
    it => it.demands === forms[0]!.demands && it.tools.some(tool => forms[0]!.tools.includes(tool)),
  );
