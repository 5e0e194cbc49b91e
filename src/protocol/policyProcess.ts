/**
 * What the service and the process of its policy, which it forks, send each other as JSON-RPC.
 * Types only.
 */
import type { ComputedWith } from "../run/backends.ts";
import type { ServedAnswer, ServedRequest } from "../policy/servedPolicy.ts";

/** The policy to open. */
export interface PolicyChoice {
  /** A run or model folder, the name of a shipped student, or a scripted policy. */
  readonly policy: string;
  /** Tasks files, whose teachers a scripted policy repeats. */
  readonly tasks: readonly string[];
  /** Whether a student writes only calls that fit the offered tools. */
  readonly isConstrained: boolean;
}

export interface OpenedServedPolicy {
  readonly model: string;
  /** What a student computes with. */
  readonly computedWith?: ComputedWith;
}

/** What the process of the policy accepts. */
export type PolicyMessages = {
  requests: {
    open: { params: PolicyChoice; result: OpenedServedPolicy };
    /** `id` is repeated with the parts of its text. */
    answer: { params: ServedRequest & { readonly id: number }; result: ServedAnswer };
  };
  notifications: object;
};

/** What the service accepts. */
export type PolicyListenerMessages = {
  requests: object;
  notifications: {
    /** A part of the text of an answer. */
    wrote: { readonly id: number; readonly text: string };
    /** The policy gave no answer for an external reason; the request then fails. */
    failed: { readonly id: number; readonly message: string };
  };
};
