/** Searches for intents that make sense in the live session, by drawing until one is feasible. */
import type { ToolDeclaration } from "../../graph/declarations.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { CrossServerIntents } from "../crossServer/crossServerIntents.ts";
import type { EntityInstance } from "../entities/entitySample.ts";
import {
  type FeasibilityChecker,
  describeProblem,
  findsSomething,
  isEmptyResult,
  isRefusal,
  type FeasibilityResult,
} from "./feasibility.ts";
import {
  type Intent,
  type IntentRequest,
  type RecoverySort,
  isReversal,
  isWithdrawal,
} from "./intent.ts";
import type { LinkStep, RefusalOdds, UserPlan } from "../userPlan.ts";
import { findRecovery, type RecoveryDraws } from "../recoveries/findRecovery.ts";
import { getTemplateText, type ClauseTemplate } from "../../text/templates.ts";

/** Draws of an intent before a tool is given up. */
export const maxAttempts = 12;

/** How often the user asks for just what a rule forbids, where it allows other values. */
const seekingShare = 0.75;

/** How often an intent is kept although its call finds nothing. */
const emptyResultShare = 0.1;

export class IntentSearch {
  readonly plan: UserPlan;
  readonly checker: FeasibilityChecker;
  /** Why the last search found nothing. */
  failure: string | undefined;
  /** What the assistant has to recover from in this conversation. */
  recovery: RecoverySort | undefined;
  /** Whether a rule has forbidden something in this conversation. */
  hasMetRule = false;
  readonly #crossServerIntents = new CrossServerIntents();

  constructor(plan: UserPlan, checker: FeasibilityChecker) {
    this.plan = plan;
    this.checker = checker;
  }

  get context(): ConversationContext {
    return this.checker.context;
  }

  /**
   * Finds an intent for a tool, or for a link step, that the session accepts, or now and then one
   * that it refuses; commits it unless it reverses the intent before.
   */
  findIntent(
    name: string,
    before: Intent | undefined,
    refusalOdds: RefusalOdds,
  ): FeasibilityResult | undefined {
    const step = this.plan.linkSteps?.get(name);
    if (step) return this.#findLinkedIntent(step);
    const { declarations, templates, random } = this.context;
    const declaration = declarations.get(name)!;
    const mayFail = declaration.tool.effect === "write" && random.boolean(refusalOdds.accept);
    const seeksRefusal = mayFail && random.boolean(refusalOdds.seek);
    const seeksRule = this.#isLimited(name) && random.boolean(seekingShare);
    const flow = this.#getFlow(declaration, before);
    const recovered = this.#findRecovery(declaration, flow);
    if (recovered && !this.reverses(before, recovered.intent)) {
      this.commitRecovery(recovered);
      return recovered;
    }
    let problem = "";
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const template = this.pickTemplate(templates.tools[name]!.forms);
      // the instances that flow in may be what makes the intent impossible
      const usesFlow = attempt < maxAttempts - 2;
      const result = this.checker.check({ declaration, template, ...(usesFlow ? { flow } : {}) });
      problem = describeProblem(result);
      if (typeof result === "string") continue;
      if (seeksRule && !result.missingCapability && attempt < maxAttempts / 2) continue;
      // only what the tool would do or show can be searched for on the menu without it
      if (result.missingCapability && !findsSomething(result)) continue;
      const { outcome } = result;
      if (outcome.kind === "ok") {
        if (seeksRefusal && attempt < maxAttempts / 2) continue;
        if (isEmptyResult(outcome.value) && !random.boolean(emptyResultShare)) continue;
      } else {
        if (!mayFail || !isRefusal(outcome)) continue;
        if (this.checker.isForeseeableRefusal(result)) {
          problem = "the user knows better";
          continue;
        }
      }
      if (!this.reverses(before, result.intent)) this.checker.commit(result);
      this.hasMetRule ||= result.missingCapability?.kind === "rule";
      return result;
    }
    this.recordFailure(name, problem);
    return undefined;
  }

  /** Whether a rule forbids a tool only in some cases, and nothing has been forbidden yet. */
  #isLimited(name: string): boolean {
    const { rules = [] } = this.plan;
    return (
      !this.hasMetRule &&
      rules.some(it => it.demands === "never" && it.if !== undefined && it.tools.includes(name))
    );
  }

  /** Whether an intent takes back the one before, and so does not belong into the same turn. */
  reverses(before: Intent | undefined, intent: Intent): boolean {
    return (
      isReversal(before, intent) ||
      (this.plan.secondThoughts !== undefined && isWithdrawal(before, intent))
    );
  }

  #findRecovery(
    declaration: ToolDeclaration,
    ownFlow: Readonly<Record<string, readonly EntityInstance[]>>,
  ): FeasibilityResult | undefined {
    const { forms } = this.context.templates.tools[declaration.tool.name]!;
    const check: RecoveryDraws["check"] = ({ context, flow, ...options }, continues) =>
      this.checker.check(
        {
          declaration,
          template: this.pickTemplate(forms),
          flow: flow ?? (continues ? ownFlow : {}),
        },
        { ...(context ?? this.context), computedShare: 0 },
        options,
      );
    return findRecovery({ declaration, check }, this);
  }

  /** Continues from an intent with a recovery, of which a conversation has only one. */
  commitRecovery(result: FeasibilityResult): void {
    this.checker.commit(result);
    this.recovery = result.intent.recovery?.sort;
  }

  #findLinkedIntent(step: LinkStep): FeasibilityResult | undefined {
    const { templates } = this.context;
    const result = this.#crossServerIntents.createIntent(
      step,
      () => this.pickTemplate(templates.tools[step.link.from]!.forms),
      this.checker,
    );
    if (typeof result !== "string") return result;
    this.failure = result;
    return undefined;
  }

  /** Checks and commits an intent if the session accepts it; it refers to nothing as `it`. */
  findAccepted(
    request: IntentRequest,
    isSuitable: (it: Intent) => boolean = () => true,
    checker: FeasibilityChecker = this.checker,
  ): Intent | undefined {
    // what is said again is not misspelt again
    const spelling = request.isSettled ? { misspeltShare: 0 } : {};
    const result = checker.check(request, { ...this.context, ...spelling, focus: [] });
    if (typeof result === "string" || result.missingCapability || !isSuitable(result.intent))
      return undefined;
    if (!findsSomething(result)) return undefined;
    checker.commit(result);
    return result.intent;
  }

  /** Draws a template; a user of few words prefers the shorter half. */
  pickTemplate(templates: readonly ClauseTemplate[]): ClauseTemplate {
    const { isMinimal, random } = this.context;
    if (!isMinimal) return random.pick(templates);
    const byLength = templates.toSorted(
      (a, b) => getTemplateText(a).length - getTemplateText(b).length,
    );
    return random.pick(byLength.slice(0, Math.max(1, Math.ceil(templates.length / 2))));
  }

  recordFailure(tool: string, problem: string): void {
    this.failure = `no sensible ${tool} (${problem})`;
  }

  /** The instances in focus, by the first required input that takes them. */
  #getFlow(
    { inputs }: ToolDeclaration,
    before: Intent | undefined,
  ): Record<string, readonly EntityInstance[]> {
    const { focus } = this.context;
    if (!before && focus.length === 0) return {};
    const required = inputs.filter(it => it.isRequired);
    const first = required.filter(
      (it, i) => required.findIndex(other => other.entity === it.entity) === i,
    );
    return Object.fromEntries(
      first.map(it => [it.path, focus.filter(instance => instance.entity === it.entity)]),
    );
  }
}
