/** The messages between the supervisor of a service and its worker processes. */

export interface WorkerSetup {
  readonly index: number;
  /** Where the workers listen for one another, by their index. */
  readonly addresses: readonly string[];
  /** Where this worker's HTTP server listens; its clients' connections come from the supervisor. */
  readonly httpAddress: string;
  /** How many sessions the worker may open before it asks for room. */
  readonly share: number;
  /** The folder of the journal. */
  readonly journal: string;
}

export type SupervisorMessage =
  | { readonly kind: "start"; readonly setup: WorkerSetup }
  /** Comes with the connection of a client. */
  | { readonly kind: "connection"; readonly number: number }
  /** The answer to `room`. */
  | { readonly kind: "granted"; readonly sessions: number }
  | { readonly kind: "give-back" }
  | { readonly kind: "drain" }
  | { readonly kind: "end" };

export type WorkerMessage =
  | { readonly kind: "ready" }
  /** The worker has the connection with that number, so that the supervisor can let go of it. */
  | { readonly kind: "connected"; readonly number: number }
  /** The worker has no room for another session. */
  | { readonly kind: "room" }
  /** The answer to `give-back`. */
  | { readonly kind: "gave-back"; readonly sessions: number }
  /** Repeated while the service drains. */
  | { readonly kind: "open-sessions"; readonly sessions: number };
