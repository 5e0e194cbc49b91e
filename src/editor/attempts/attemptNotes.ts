/** Notes on attempts in the editor: reads them for tables and transcripts, and asks for changes. */
import { EventEmitter, type Disposable, type Uri } from "vscode";
import {
  changeNote,
  emptyNote,
  getAttemptKey,
  getNotesFile,
  readNotes,
  type AttemptNote,
  type AttemptNotes,
} from "../../run/attemptNotes.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { askText, pickOne } from "../shared/quickInput.ts";
import { getTranscriptTitle, readLocation } from "./storedLocation.ts";
import type { StoredAttempt } from "./storedAttempt.ts";

/** The notes of a file or a run, or why they cannot be read. */
interface ReadNotes {
  readonly notes: AttemptNotes;
  readonly problem?: string;
}

export class Notes implements Disposable {
  readonly #changed = new EventEmitter<void>();
  /** Notes may have changed, here or in another window. */
  readonly onDidChange = this.#changed.event;
  readonly #subscription: Disposable;

  constructor(folder: Pick<ProveFolder, "onDidChange">) {
    this.#subscription = folder.onDidChange(part => {
      if (part === "tasks" || part === "runs") this.#changed.fire();
    });
  }

  /** The notes on the attempts of a file or of a run's folder. */
  list(path: string): ReadNotes {
    try {
      return { notes: readNotes(getNotesFile(path)) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { notes: {}, problem: error.message };
    }
  }

  /** The note on the attempt of a transcript. Throws a `UserError` if its file is damaged. */
  get(uri: Uri, { trajectory }: Pick<StoredAttempt, "trajectory">): AttemptNote {
    return readNotes(getFile(uri))[getAttemptKey(trajectory)] ?? emptyNote;
  }

  /** Asks what to change in the note on the attempt of a transcript, and writes it. */
  async edit(uri: Uri, attempt: StoredAttempt): Promise<void> {
    if (attempt.rejected)
      throw new UserError("a rejected attempt has no notes", "choose another attempt");
    const before = this.get(uri, attempt);
    const file = getFile(uri);
    const after = await askForNote(before, getTranscriptTitle(uri), this.#listTags(file));
    await changeNote(file, { key: getAttemptKey(attempt.trajectory), before, after });
    this.#changed.fire();
  }

  #listTags(file: string): readonly string[] {
    const tags = Object.values(readNotes(file)).flatMap(it => it.tags);
    return [...new Set(tags)].toSorted();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}

function getFile(uri: Uri): string {
  const location = readLocation(uri);
  return getNotesFile(location.kind === "group" ? location.run : location.file);
}

async function askForNote(
  before: AttemptNote,
  title: string,
  known: readonly string[],
): Promise<AttemptNote> {
  const createVerdict = (verdict: "good" | "bad") => {
    const isSet = before.verdict === verdict;
    return {
      label: verdict === "good" ? "Good" : "Bad",
      description: isSet ? "remove this verdict" : "",
      iconPath: icons[verdict],
      change: async () => ({ ...before, verdict: isSet ? undefined : verdict }),
    };
  };
  const question = { title: `Note on ${title}` };
  const items = [
    createVerdict("good"),
    createVerdict("bad"),
    {
      label: "Tags…",
      description: before.tags.join(", "),
      iconPath: icons.tag,
      change: async () => ({ ...before, tags: await askForTags(before, question.title, known) }),
    },
    {
      label: "Text…",
      description: before.text,
      iconPath: icons.note,
      change: async () => ({
        ...before,
        text: await askText(
          { ...question, text: "What to remember about the attempt; nothing removes the text" },
          { value: before.text, validate: () => undefined },
        ),
      }),
    },
    ...(before === emptyNote
      ? []
      : [
          {
            label: "Remove Note",
            description: "",
            iconPath: icons.removed,
            change: async () => emptyNote,
          },
        ]),
  ];
  const { change } = await pickOne(items, { ...question, text: "What to note" });
  return change();
}

async function askForTags(
  { tags }: AttemptNote,
  title: string,
  known: readonly string[],
): Promise<readonly string[]> {
  const others = known.filter(it => !tags.includes(it));
  const used = others.length > 0 ? `; used already: ${others.slice(0, 10).join(", ")}` : "";
  const text = await askText(
    { title, text: `Tags with commas between them, such as slow, wrong-date${used}` },
    { value: tags.join(", "), validate: () => undefined },
  );
  const chosen = text.split(",").map(it => it.trim());
  return [...new Set(chosen)].filter(it => it !== "");
}

/** A note in one line; empty for an attempt without one. */
export const describeNote = ({ verdict, tags, text }: AttemptNote): string =>
  [verdict ?? "", tags.map(it => `#${it}`).join(" "), text].filter(it => it !== "").join(" · ");
