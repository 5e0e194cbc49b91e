/**
 * The messages between a page and the editor. Each page has a contract that maps the names of its
 * requests and events to their types, so the type of a reply follows from the request's name.
 */

/** The requests that a page may send, and the events that the editor sends to it. */
export interface PageContract {
  readonly requests: Record<string, { params: unknown; result: unknown }>;
  readonly events: Record<string, unknown>;
}

/** A message from the editor to the page: the result of a request, its failure, or an event. */
export type EditorMessage<Contract extends PageContract> =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | {
      readonly kind: "failure";
      readonly id: number;
      readonly what: string;
      readonly remedy: string;
    }
  | {
      [Name in keyof Contract["events"]]: {
        readonly kind: "event";
        readonly name: Name;
        readonly body: Contract["events"][Name];
      };
    }[keyof Contract["events"]];
