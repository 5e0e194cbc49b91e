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
  /** Of all messages, and of the last one. */
  readonly #calls: OpenCall[] = [];
  #last: readonly OpenCall[] = [];

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
    return this.#last.some(isOpen);
  }

  addUser(text: string): void {
    this.#messages.push({ role: "user", text });
  }

  addAssistant(text: string, calls: readonly NamedCall[]): void {
    this.#last = calls.map(it => ({ ...it }));
    this.#calls.push(...this.#last);
    this.#messages.push({ role: "assistant", text, calls: this.#last });
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
    const open = this.#last.filter(isOpen);
    if (hasId({ id }) && this.#last.some(hasId)) {
      const isNamed = (it: OpenCall): boolean => it.id === id;
      return open.find(isNamed) ?? this.#calls.findLast(it => isOpen(it) && isNamed(it));
    }
    return open.find(it => it.name === name) ?? open[0];
  }
}

const isOpen = ({ result }: OpenCall): boolean => result === undefined;
const hasId = ({ id }: { readonly id?: string | null | undefined }): boolean =>
  id !== undefined && id !== null && id !== "";
