/**
 * Keeps track of what the user can refer to: the instances that have been named, made or shown, and
 * those among them that `it`, `that card` or `the second one` can mean.
 */
import type { Knowledge } from "../../../trajectory/knowledge.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { getEntityKey, type EntityInstance } from "./entitySample.ts";

/** The part of the context that says what can be referred to. */
type ReferentContext = Pick<
  ConversationContext,
  "known" | "untoldIds" | "focus" | "recent" | "listed"
>;

/** The instances of a request that was made. */
interface RequestInstances {
  readonly named: readonly EntityInstance[];
  /** Those of the result that did not exist before. */
  readonly made: readonly EntityInstance[];
  /** Those made whose ids the user does not know, because the request did not give them. */
  readonly unknown: readonly EntityInstance[];
  /** All of the result. */
  readonly shown: readonly EntityInstance[];
}

export class Referents {
  context: ReferentContext;
  readonly #knowledge: Knowledge;
  /** Entities whose ids people say. */
  readonly #spokenEntities: ReadonlySet<string>;
  /** The instances that this turn's requests have named or made. */
  #current: readonly EntityInstance[] = [];
  /** Those of the turn before, and what the reply to it told. */
  #previous: readonly EntityInstance[];
  /** The instances that results have shown since the last reply. */
  #untold: readonly EntityInstance[] = [];

  constructor(
    { known, untoldIds, focus, recent, listed = [], declarations }: ConversationContext,
    knowledge: Knowledge,
  ) {
    this.context = { known, ...(untoldIds ? { untoldIds } : {}), focus, recent, listed };
    this.#previous = recent;
    this.#knowledge = knowledge;
    this.#spokenEntities = new Set(
      [...declarations.values()].flatMap(it =>
        it.inputs.flatMap(input => (input.isSpoken ? [input.entity] : [])),
      ),
    );
  }

  /** Continues from a request: what it named or showed is known, and it is about these instances. */
  addRequest({ named, made, unknown, shown }: RequestInstances): void {
    const { known, untoldIds = [] } = this.context;
    this.#current = listDistinct([...this.#current, ...named, ...made]);
    const entities = new Set(this.#current.map(it => it.entity));
    this.context = {
      ...this.context,
      known: new Map([...known, ...mapByKey([...named, ...shown])]),
      untoldIds: new Set([...untoldIds, ...unknown.map(getEntityKey)]),
      focus: listDistinct([...named, ...this.#selectDistinguishable(shown, named)]),
      recent: [...this.#current, ...this.#previous.filter(it => !entities.has(it.entity))],
    };
    this.#untold = listDistinct([...this.#untold, ...shown]);
  }

  /**
   * Continues from the assistant's reply, which `knowledge` has learned: the user can refer to what
   * they have named or made, and to what the reply tells.
   */
  addReply(): void {
    const told = this.#untold.filter(it => this.#isTold(it));
    const referable = mapByKey([...this.#current, ...told]);
    this.#previous = [...referable.values()];
    this.#current = [];
    this.#untold = [];
    const { known, untoldIds = [] } = this.context;
    this.context = {
      ...this.context,
      untoldIds: new Set(
        [...untoldIds].filter(it => !this.#knowledge.isMentioned(String(known.get(it)!.id))),
      ),
      focus: this.context.focus.filter(it => referable.has(getEntityKey(it))),
      recent: this.#previous,
    };
  }

  /** Takes the rows that the last reply listed, in its order. */
  setListed(
    rows: readonly Pick<EntityInstance, "entity" | "id">[],
    { sample }: Pick<ConversationContext, "sample">,
  ): void {
    const listed = rows.map(
      it => this.context.known.get(getEntityKey(it)) ?? sample.find(it.entity, it.id),
    );
    // an order with gaps would make the third row the second one
    const isComplete = listed.every(it => it !== undefined);
    this.context = { ...this.context, listed: isComplete ? listed : [] };
  }

  /** Makes sure that the next request refers to nothing as `it`. */
  clearFocus(): void {
    this.context = { ...this.context, focus: [] };
  }

  #isTold({ id, label, facts }: EntityInstance): boolean {
    return [id, ...(label === undefined ? Object.values(facts) : [label])].some(
      it => typeof it === "string" && it.length > 2 && this.#knowledge.isInLastReply(it),
    );
  }

  /** The instances of a result that differ from its others by a label or a spoken id. */
  #selectDistinguishable(
    shown: readonly EntityInstance[],
    named: readonly EntityInstance[],
  ): EntityInstance[] {
    const others = shown.filter(it => !named.some(of => getEntityKey(of) === getEntityKey(it)));
    return others.filter(
      it =>
        others.filter(of => of.entity === it.entity).length === 1 ||
        it.label !== undefined ||
        this.#spokenEntities.has(it.entity),
    );
  }
}

const mapByKey = (instances: readonly EntityInstance[]): Map<string, EntityInstance> =>
  new Map(instances.map(it => [getEntityKey(it), it]));

const listDistinct = (instances: readonly EntityInstance[]): EntityInstance[] => [
  ...mapByKey(instances).values(),
];
