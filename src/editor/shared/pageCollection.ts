/** The open pages of one kind: at most one per subject, such as a run or a tasks file. */
import type { Disposable, Uri, WebviewPanel } from "vscode";
import type { PageContract } from "../../protocol/pageChannel.ts";
import { openPage, servePage, type Page, type PageOptions } from "./page.ts";
import type { Answers } from "./pageRequests.ts";

/** How a page of one subject is opened and answered. */
export interface PageContent<Contract extends PageContract> {
  readonly options: PageOptions;
  readonly answers: Answers<Contract>;
  /** Sends events to the page until the result is disposed. */
  readonly subscribe?: (page: Page<Contract>) => Disposable;
}

export class PageCollection<Contract extends PageContract> implements Disposable {
  readonly #extensionUri: Uri;
  readonly #createContent: (subject: string) => PageContent<Contract>;
  readonly #pages = new Map<string, Page<Contract>>();

  constructor(extensionUri: Uri, createContent: (subject: string) => PageContent<Contract>) {
    this.#extensionUri = extensionUri;
    this.#createContent = createContent;
  }

  get(subject: string): Page<Contract> | undefined {
    return this.#pages.get(subject);
  }

  /** Subjects with their pages. */
  entries(): Iterable<readonly [string, Page<Contract>]> {
    return this.#pages.entries();
  }

  /** Reveals the page of a subject, or opens it. */
  show(subject: string, { preserveFocus = false }: Pick<PageOptions, "preserveFocus"> = {}): void {
    const open = this.#pages.get(subject);
    if (open) return open.panel.reveal(undefined, preserveFocus);
    const content = this.#createContent(subject);
    const options = { ...content.options, preserveFocus };
    this.#add(subject, content, openPage(this.#extensionUri, options, content.answers));
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, subject: string): void {
    const content = this.#createContent(subject);
    const page = servePage(this.#extensionUri, panel, content.options, content.answers);
    this.#add(subject, content, page);
  }

  dispose(): void {
    for (const it of this.#pages.values()) it.panel.dispose();
  }

  #add(subject: string, { subscribe }: PageContent<Contract>, page: Page<Contract>): void {
    this.#pages.set(subject, page);
    const subscription = subscribe?.(page);
    page.panel.onDidDispose(() => {
      subscription?.dispose();
      this.#pages.delete(subject);
    });
  }
}
