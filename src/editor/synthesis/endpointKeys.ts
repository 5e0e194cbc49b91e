/**
 * The keys of endpoints, in the editor's secret storage, and the user's consent before anything is
 * sent to another machine. A key is stored for the origin of an address and used for that origin
 * only.
 */
import { CancellationError, type Memento, type SecretStorage } from "vscode";
import { UserError } from "../../userError.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";
import { confirm, showInformation } from "../shared/notifications.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { askText, pickOne } from "../shared/quickInput.ts";
import { getSetting } from "../shared/settings.ts";

const getSecretName = (origin: string) => `prove.endpoint.key ${origin}`;

/** The origins with a key are stored separately, because secrets cannot be listed. */
const originsKey = "prove.endpoint.origins";

/** Why a text is not the address of an endpoint, or undefined. */
export function validateAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return "enter an address such as http://127.0.0.1:8000/v1";
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return "enter an address that begins with http:// or https://";
  if (username || password)
    return "enter no name or password: use Set Endpoint Key… to store a key";
  return search || hash ? "enter an address without ? or #" : undefined;
}

/** Whether an address is on this machine. */
const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

export class EndpointKeys {
  readonly #secrets: SecretStorage;
  readonly #globalState: Memento;

  constructor(secrets: SecretStorage, globalState: Memento) {
    this.#secrets = secrets;
    this.#globalState = globalState;
  }

  /** The stored key for an address, if there is one. */
  async getKey(url: string): Promise<string | undefined> {
    return this.#secrets.get(getSecretName(new URL(url).origin));
  }

  /** Asks for an address and its key, and stores the key. */
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
          /^[\x21-\x7e]+$/.test(text.trim()) ? undefined : "enter a key without spaces",
      },
    );
    await this.#secrets.store(getSecretName(origin), key.trim());
    await this.#globalState.update(originsKey, [...new Set([...this.#origins, origin])].sort());
    void showInformation(`A key is stored for ${origin}.`);
  }

  /** Asks for an origin, and removes its key. */
  async promptToForget(): Promise<void> {
    const origins = this.#origins;
    if (origins.length === 0)
      throw new UserError("no endpoint key is stored", "there is nothing to remove");
    const items = origins.map(it => ({ label: it }));
    const { label } = await pickOne(items, "Which key to remove");
    await this.#secrets.delete(getSecretName(label));
    await this.#globalState.update(
      originsKey,
      origins.filter(it => it !== label),
    );
    void showInformation(`The key for ${label} was removed.`);
  }

  /**
   * Shows once for each origin where requests are sent and what they contain. Requests to this
   * machine need no consent. Throws a `CancellationError` if the user does not agree.
   */
  async confirmSending(url: string, model: string): Promise<void> {
    if (isLoopback(url)) return;
    const { origin } = new URL(url);
    const hasKey = (await this.getKey(url)) !== undefined;
    const consentKey = `prove.endpoint.allowed ${origin} ${hasKey ? "with key" : "without key"}`;
    if (this.#globalState.get(consentKey) === true) return;
    const isAllowed = await confirm({
      question: `Send requests for ${escapeInvisible(model)} to ${escapeInvisible(origin)}?`,
      detail: describeRequests(url, hasKey),
      button: "Send",
    });
    if (!isAllowed) throw new CancellationError();
    await this.#globalState.update(consentKey, true);
  }

  get #origins(): readonly string[] {
    return this.#globalState.get<readonly string[]>(originsKey) ?? [];
  }
}

/** What requests to an address contain, and who can read them. */
function describeRequests(url: string, hasKey: boolean): string {
  const content =
    "What leaves this machine: the conversations of syntheses and of forked attempts, the " +
    "definitions of the tools on offer, and the tools' results, which come from the servers' " +
    "fixtures, including your own.";
  const paragraphs = [
    escapeInvisible(url),
    hasKey ? `${content} The key stored for this address is sent with each request.` : content,
  ];
  if (new URL(url).protocol === "http:") {
    const secrets = hasKey ? "the requests and the key" : "the requests";
    paragraphs.push(`The connection is not encrypted: others on the network can read ${secrets}.`);
  }
  return paragraphs.join("\n\n");
}
