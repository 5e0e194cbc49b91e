/**
 * Puts together the conversation of a rollout from messages, calls and results that its software
 * wrote one after the other.
 */
import type { Call } from "../environment/outcome.ts";
import type { CountOmitted, RolloutCall, RolloutMessage } from "./rollout.ts";

/** A call as a file has it: with an id, perhaps, by which its result names it. */
export interface NamedCall extends Call {
  readonly id?: string | null | undefined;
}

export interface CallResult {
  /** Of the call. */
  readonly id?: string | null | undefined;
  /** Of the tool. */
  readonly name?: string | null | undefined;
  readonly text: string;
  readonly isError?: boolean;
}

type OpenCall = NamedCall & { -readonly [Key in keyof RolloutCall]: RolloutCall[Key] };

export class ConversationBuilder {
  readonly #omit: CountOmitted;
  readonly #messages: RolloutMessage[] = [];
  /** The calls of all messages by their ids. */
  readonly #byId = new Map<string, OpenCalls>();
  /** The calls of the last message: all, by their ids, and by their names. */
  #last = new OpenCalls();
  #lastById = new Map<string, OpenCalls>();
  #lastByName = new Map<string, OpenCalls>();

  constructor(omit: CountOmitted) {
    this.#omit = omit;
  }

  get messages(): readonly RolloutMessage[] {
    return this.#messages.map(it =>
      it.role === "user"
        ? it
        : {
            ...it,
            calls: it.calls.map(({ name, arguments: args, result, isError }) => ({
              name,
              arguments: args,
              result,
              ...(isError === undefined ? {} : { isError }),
            })),
          },
    );
  }

  /** Whether a call of the last message has no result yet. */
  get awaitsResult(): boolean {
    return this.#last.first !== undefined;
  }

  addUser(text: string): void {
    this.#messages.push({ role: "user", text });
  }

  addAssistant(text: string, calls: readonly NamedCall[]): void {
    const own: readonly OpenCall[] = calls.map(it => ({ ...it }));
    this.#messages.push({ role: "assistant", text, calls: own });
    this.#last = new OpenCalls();
    this.#lastById = new Map();
    this.#lastByName = new Map();
    for (const it of own) {
      this.#last.add(it);
      addTo(this.#lastByName, it.name, it);
      if (!hasId(it)) continue;
      addTo(this.#lastById, it.id!, it);
      addTo(this.#byId, it.id!, it);
    }
  }

  /** Adds a result to its call, or counts it if it belongs to none. */
  addResult(result: CallResult): void {
    const call = this.#findCall(result);
    if (!call) return this.#omit("result");
    call.result = result.text;
    if (result.isError === true) call.isError = true;
  }

  /**
   * The call with the result's id: if several have it, the first one of the last message that has
   * no result. A result without an id, or of calls without ids, belongs to the first one of the
   * last message that is left, of those with the name of its tool if there are any.
   */
  #findCall({ id, name }: CallResult): OpenCall | undefined {
    if (hasId({ id }) && this.#lastById.size > 0)
      return this.#lastById.get(id!)?.first ?? this.#byId.get(id!)?.last;
    const isNamed = name !== undefined && name !== null;
    return (isNamed ? this.#lastByName.get(name)?.first : undefined) ?? this.#last.first;
  }
}

/** Calls of which the first and the last without a result are found without a search. */
class OpenCalls {
  readonly #calls: OpenCall[] = [];
  #from = 0;

  add(call: OpenCall): void {
    this.#calls.push(call);
  }

  get first(): OpenCall | undefined {
    while (this.#from < this.#calls.length && !isOpen(this.#calls[this.#from]!)) this.#from++;
    return this.#calls[this.#from];
  }

  get last(): OpenCall | undefined {
    while (this.#calls.length > 0 && !isOpen(this.#calls.at(-1)!)) this.#calls.pop();
    return this.#calls.at(-1);
  }
}

function addTo(calls: Map<string, OpenCalls>, key: string, call: OpenCall): void {
  let own = calls.get(key);
  if (!own) calls.set(key, (own = new OpenCalls()));
  own.add(call);
}

const isOpen = ({ result }: OpenCall): boolean => result === undefined;
const hasId = ({ id }: { readonly id?: string | null | undefined }): boolean =>
  id !== undefined && id !== null && id !== "";
