/** Chooses the policy of a task: rules that may matter, or not, and the page that says them. */
import type { Random } from "../../../environment/random.ts";
import type { Json } from "../../../environment/json.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { TaskPolicy, TaskRule } from "../../../trajectory/taskRules.ts";
import { renderPolicyPage, type Conduct } from "../../text/policyPages.ts";
import { decidesOutcome } from "../report/demands.ts";
import type { ProofTexts, ServerPolicies, ServerRule } from "../../text/serverPolicies.ts";

/**
 * How often the rules are on a page, with all those of the server and of the others on the menu.
 * How often a page wants every write confirmed. Of a few rules, how often there are others besides
 * the one that is to matter. How often the strictest form of a rule is chosen. How often a rule
 * that decides the outcome wants to know something.
 */
const ruleShares = {
  page: 0.5,
  allConfirmed: 0.4,
  strictest: 0.9,
  second: 0.6,
  third: 0.4,
  ofOtherServer: 0.3,
  proof: 0.4,
};

/** What servers declare, and what every page says. */
export interface PolicyTexts {
  readonly getPolicies: (server: string) => ServerPolicies;
  readonly conduct: Conduct;
}

/** The policy of a task, with what those rules accept that demand a proof. */
interface ChosenPolicy {
  readonly policy: TaskPolicy;
  readonly proofs: ReadonlyMap<string, ProofTexts>;
}

interface PolicySource {
  /** What one of the rules should do: decide the outcome, want a confirmation, or nothing. */
  readonly aim: PolicyAim;
  /** The user follows a scenario, in which nothing is forbidden. */
  readonly followsScenario: boolean;
  /** The server that the conversation is about, and its state. */
  readonly home: string;
  readonly state: Json;
  readonly otherServers: readonly string[];
  /** Full names of the tools that the conversation probably calls. */
  readonly tools: readonly string[];
}

/** The policy of a task, and what its rules accept; undefined if its server has no rules. */
export function choosePolicy(
  source: PolicySource,
  texts: PolicyTexts,
  random: Random,
): ChosenPolicy | undefined {
  const { rules } = texts.getPolicies(source.home);
  if (rules.length === 0) return undefined;
  const first = chooseFirst(source, rules, random);
  const policy = random.boolean(ruleShares.page)
    ? choosePage(source, texts, first, random)
    : { rules: chooseFewRules(source, texts, first, random) };
  const proofs = new Map(rules.flatMap(it => (it.proof ? [[it.id, it.proof] as const] : [])));
  return { policy, proofs };
}

/** The rule that should matter, or one that probably does not. */
function chooseFirst(
  { aim, followsScenario, tools }: PolicySource,
  rules: readonly ServerRule[],
  random: Random,
): ServerRule {
  const own = rules.filter(it => !it.isGeneral);
  const relevant = own.filter(({ forms }) => forms[0]!.tools.some(it => tools.includes(it)));
  const pick = (demands: TaskRule["demands"]) => {
    const choices = relevant.filter(it => it.forms[0]!.demands === demands);
    return choices.length > 0 ? random.pick(choices) : undefined;
  };
  const unconditional = relevant.filter(
    ({ forms: [form] }) => form!.demands === "confirm" && form!.if === undefined,
  );
  if (aim === "confirm")
    return unconditional.length > 0
      ? random.pick(unconditional)
      : (pick("confirm") ?? random.pick(own));
  if (aim === "none") return random.pick(own);
  return followsScenario || random.boolean(ruleShares.proof)
    ? (pick("proof") ?? pick("never") ?? random.pick(own))
    : (pick("never") ?? pick("proof") ?? random.pick(own));
}

function choosePage(
  { home, state, otherServers }: PolicySource,
  { getPolicies, conduct }: PolicyTexts,
  first: ServerRule,
  random: Random,
): TaskPolicy {
  const parts = [home, ...otherServers].map(server => {
    const { page, rules } = getPolicies(server);
    const chosen = chooseAllRules(rules, server === home ? first : undefined, random);
    const own = { server, page, rules: chosen.map(it => chooseForm(it, random)) };
    return server === home ? { ...own, state } : own;
  });
  return { rules: parts.flatMap(it => it.rules), page: renderPolicyPage(parts, conduct) };
}

/** The rules of a server that go together; that every write is confirmed comes first. */
function chooseAllRules(
  own: readonly ServerRule[],
  first: ServerRule | undefined,
  random: Random,
): readonly ServerRule[] {
  const general = random.boolean(ruleShares.allConfirmed) ? own.filter(it => it.isGeneral) : [];
  const special = random.shuffle(own.filter(it => !it.isGeneral && it !== first));
  const chosen: ServerRule[] = [...general];
  for (const it of first ? [first, ...special] : special) if (isFree(it, chosen)) chosen.push(it);
  return first && general.length > 0 && !chosen.includes(first)
    ? chooseAllRules(
        own.filter(it => !it.isGeneral),
        first,
        random,
      )
    : chosen;
}

/** One to three rules, in any order. */
function chooseFewRules(
  { home, otherServers }: PolicySource,
  { getPolicies }: PolicyTexts,
  first: ServerRule,
  random: Random,
): TaskRule[] {
  const chosen = [first];
  for (const share of [ruleShares.second, ruleShares.third]) {
    if (!random.boolean(share)) continue;
    const isOther = otherServers.length > 0 && random.boolean(ruleShares.ofOtherServer);
    const from = getPolicies(isOther ? random.pick(otherServers) : home).rules;
    const free = from.filter(it => !it.isGeneral && isFree(it, chosen));
    if (free.length > 0) chosen.push(random.pick(free));
  }
  return random.shuffle(chosen).map(it => chooseForm(it, random));
}

const chooseForm = ({ forms }: ServerRule, random: Random): TaskRule =>
  random.boolean(ruleShares.strictest) ? forms[0]! : random.pick(forms);

/**
 * Whether a rule goes with others: none of them demands the same of one of its tools, and none is
 * idle because another one forbids its tools in any case.
 */
const isFree = (rule: ServerRule, chosen: readonly ServerRule[]): boolean =>
  chosen.every(other => {
    const [own, its] = [rule.forms[0]!, other.forms[0]!];
    if (!own.tools.some(it => its.tools.includes(it))) return true;
    const isIdle = [own, its].some(it => it.demands === "never" && it.if === undefined);
    return own.demands !== its.demands && (!isIdle || rule.isGeneral || other.isGeneral);
  });

// Decides what the rules of a task should do: by the shares, and more often what has been rare so
// far, because not every conversation has a place for it.

/** What the rules of a task are to do. */
type PolicyAim = "outcome" | "confirm" | "none";

/** What part of the normal tasks a rule should decide the outcome of, and want a yes in. */
const aimShares: Readonly<Record<Exclude<PolicyAim, "none">, number>> = {
  outcome: 0.115,
  confirm: 0.11,
};

/** With fewer tasks than this, what has been counted is not used. */
const minTasks = 30;

/** How much more often than its share an effect is tried, and how strongly a deficit counts. */
const odds = { surplus: 1.4, gain: 8 };

/** Counts of normal tasks: all, and those in which a rule has an effect. */
export class PolicyCounts {
  #total = 0;
  readonly #counts = { outcome: 0, confirm: 0 };

  record({ kind, knobs }: Pick<Task, "kind" | "knobs">): void {
    if (kind !== "normal") return;
    this.#total++;
    if (knobs["policy"] === "confirm") this.#counts.confirm++;
    if (decidesOutcome(knobs["policy"])) this.#counts.outcome++;
  }

  /** The weight of an effect: its share of all normal tasks, and more if it has been rare. */
  weigh(aim: Exclude<PolicyAim, "none">): number {
    const share = aimShares[aim];
    const deficit = this.#total < minTasks ? 0 : share - this.#counts[aim] / this.#total;
    return Math.max(0, odds.surplus * share + odds.gain * deficit);
  }
}

/** What the rules of the next task are to do; undefined if it has none. `factor`: how often at all. */
export function drawPolicyAim(
  counts: PolicyCounts,
  factor: number,
  random: Random,
): PolicyAim | undefined {
  if (factor === 0) return undefined;
  const x = random.next() / factor;
  const outcome = counts.weigh("outcome");
  const confirm = outcome + counts.weigh("confirm");
  if (x < outcome) return "outcome";
  if (x < confirm) return "confirm";
  return x < confirm + noneShare ? "none" : undefined;
}

/** The part of the tasks whose rules probably do not matter. */
const noneShare = 0.03;
