/**
 * The endpoint that a person names for a teacher: its address, its key in the editor's secret
 * storage, and their consent before anything is sent off this machine. A key is stored for an
 * address's origin and given out for that origin only.
 */
import { CancellationError, window, type Memento, type SecretStorage } from "vscode";
import { UserError } from "../../userError.ts";
import { escapeInvisible } from "../../trajectory/visible.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickOne, askText } from "../shared/quickInput.ts";
import { getSetting } from "../shared/settings.ts";

const getSecretName = (origin: string) => `prove.endpoint.key ${origin}`;

/** The origins that have a key, kept beside the secrets, which cannot be listed. */
const originsKey = "prove.endpoint.origins";

/** Why a text is no address of an endpoint, or undefined. */
export function validateAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return "an address such as http://127.0.0.1:8000/v1";
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return "an address that begins with http:// or https://";
  if (username || password)
    return "without a name or a password: a key is stored by Set Endpoint Key…";
  return search || hash ? "without a ? or a #" : undefined;
}

/** Whether an address is this machine's own. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

export class EndpointKeys {
  readonly #secrets: SecretStorage;
  /** Of the person, on this machine. */
  readonly #globalState: Memento;

  constructor(secrets: SecretStorage, known: Memento) {
    this.#secrets = secrets;
    this.#globalState = known;
  }

  /** The key that is stored for an address, where there is one. */
  async getKey(url: string): Promise<string | undefined> {
    return this.#secrets.get(getSecretName(new URL(url).origin));
  }

  /** Asks for an address and its key, and stores it. */
  async promptForKey(): Promise<void> {
    requireTrust("storing a key");
    const title = "Set Endpoint Key";
    const url = await askText(
      { title, text: "The endpoint's address; the key is sent to that host and port only" },
      {
        value: getSetting("endpoint.url"),
        placeholder: "https://…/v1",
        validate: validateAddress,
      },
    );
    const { origin } = new URL(url);
    const key = await askText(
      { title, text: `The key for ${origin}` },
      {
        isSecret: true,
        validate: text =>
          /^[\x21-\x7e]+$/.test(text.trim()) ? undefined : "a key in one line, without blanks",
      },
    );
    await this.#secrets.store(getSecretName(origin), key.trim());
    await this.#globalState.update(originsKey, [...new Set([...this.#origins, origin])].sort());
    void window.showInformationMessage(`A key is stored for ${origin}.`);
  }

  /** Removes a stored key, the one that the person picks. */
  async promptToForget(): Promise<void> {
    const all = this.#origins;
    if (all.length === 0)
      throw new UserError("no endpoint key is stored", "there is nothing to forget");
    const { label } = await pickOne(
      all.map(it => ({ label: it })),
      "Whose key to forget",
    );
    await this.#secrets.delete(getSecretName(label));
    await this.#globalState.update(
      originsKey,
      all.filter(it => it !== label),
    );
    void window.showInformationMessage(`The key for ${label} is forgotten.`);
  }

  /**
   * Shows once for each host and port where requests go and what is in them, unless that is this
   * machine. Throws a `CancellationError` where the person does not agree.
   */
  async confirmSending(url: string, model: string): Promise<void> {
    if (isLoopback(url)) return;
    const { origin, protocol } = new URL(url);
    const key = (await this.getKey(url)) !== undefined;
    const agreed = `prove.endpoint.agreed ${origin} ${key ? "with key" : "without key"}`;
    if (this.#globalState.get(agreed) === true) return;
    const detail = [
      escapeInvisible(url),
      `What leaves this machine: the conversations as they are made, the definitions of the chosen servers' tools, and what the tools answer from their fixtures, your own ones included.${key ? " The key that is stored for this address goes with each request." : ""}`,
      ...(protocol === "http:"
        ? [
            `The connection is not encrypted: whoever is on the way can read it all${key ? ", the key too" : ""}.`,
          ]
        : []),
    ].join("\n\n");
    const chosen = await window.showWarningMessage(
      `Send requests for ${escapeInvisible(model)} to ${escapeInvisible(origin)}?`,
      { modal: true, detail },
      "Send",
    );
    if (chosen !== "Send") throw new CancellationError();
    await this.#globalState.update(agreed, true);
  }

  get #origins(): readonly string[] {
    return this.#globalState.get<readonly string[]>(originsKey) ?? [];
  }
}
