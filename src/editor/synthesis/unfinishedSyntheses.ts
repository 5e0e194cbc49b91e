/** Stores the syntheses of a workspace that were started and have not finished. */
import { existsSync } from "node:fs";
import type { Memento } from "vscode";
import type { SynthesisChoices } from "./synthesisPrompts.ts";

export interface UnfinishedSynthesis {
  readonly file: string;
  readonly choices: SynthesisChoices;
}

/** An unfinished synthesis in the workspace state. */
interface StoredSynthesis {
  readonly file: string;
  readonly ask: SynthesisChoices;
}

const storedKey = "prove.synthesis.begun";

export class UnfinishedSyntheses {
  readonly #workspaceState: Memento;
  /** The files that this window is writing. */
  readonly #running = new Set<string>();

  constructor(workspaceState: Memento) {
    this.#workspaceState = workspaceState;
  }

  /** Those whose files exist and are not being written. */
  listResumable(): readonly UnfinishedSynthesis[] {
    return this.#stored
      .filter(it => existsSync(it.file) && !this.#running.has(it.file))
      .map(({ file, ask }) => ({ file, choices: ask }));
  }

  /** Stores a synthesis that is being started or resumed. */
  async begin({ file, choices }: UnfinishedSynthesis): Promise<void> {
    this.#running.add(file);
    await this.#store([...this.#stored.filter(it => it.file !== file), { file, ask: choices }]);
  }

  /** Records that this window no longer writes the file. */
  end(file: string): void {
    this.#running.delete(file);
  }

  /** Removes a synthesis that has finished. */
  async remove(file: string): Promise<void> {
    await this.#store(this.#stored.filter(it => it.file !== file));
  }

  get #stored(): readonly StoredSynthesis[] {
    return this.#workspaceState.get<readonly StoredSynthesis[]>(storedKey) ?? [];
  }

  /** Stores the list without those whose files were deleted. */
  async #store(syntheses: readonly StoredSynthesis[]): Promise<void> {
    await this.#workspaceState.update(
      storedKey,
      syntheses.filter(it => existsSync(it.file) || this.#running.has(it.file)),
    );
  }
}
