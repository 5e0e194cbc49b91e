/**
 * The read-only files of the scheme `prove`, whose text is built when they are read: transcripts,
 * shipped fixtures, calls of live sessions. Tabs that show them are restored after a reload. Each
 * feature provides the text of its own paths.
 */
import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  workspace,
  type ExtensionContext,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from "vscode";
import { createHoverText } from "./notifications.ts";
import { withPlainErrors } from "./report.ts";

/** Builds the text of a file when it is read. */
type ReadText = (uri: Uri) => string | Promise<string>;

export class ReadOnlyFiles implements FileSystemProvider {
  readonly #readers = new Map<string, ReadText>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  /**
   * The number of changes so far, reported as the time of change: an editor reads again when it
   * differs.
   */
  #version = 1;

  /**
   * Registers the function that builds the text of all paths with a prefix, such as `/sessions/`.
   */
  provide(prefix: string, read: ReadText): void {
    this.#readers.set(prefix, read);
  }

  /**
   * Registers the scheme. Call `provide` for all prefixes first: from then on, the workbench reads
   * the files of restored tabs and no longer waits for the activation.
   */
  register({ subscriptions }: ExtensionContext): void {
    subscriptions.push(
      workspace.registerFileSystemProvider("prove", this, {
        isReadonly: createHoverText(
          "This document is read-only. To change a shipped fixture, run PROVE: Edit Fixture.",
        ),
        isCaseSensitive: true,
      }),
    );
  }

  /** Makes editors that show the file read it again. */
  fireChange(uri: Uri): void {
    this.#version++;
    this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
  }

  watch(): Disposable {
    // changes are reported for every file, watched or not
    return new Disposable(() => undefined);
  }

  async stat(uri: Uri): Promise<FileStat> {
    return {
      type: FileType.File,
      ctime: 0,
      mtime: this.#version,
      size: (await this.readFile(uri)).byteLength,
    };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const [, read] = [...this.#readers].find(([prefix]) => uri.path.startsWith(prefix)) ?? [];
    if (!read) throw FileSystemError.FileNotFound(uri);
    return new TextEncoder().encode(await withPlainErrors(() => read(uri)));
  }

  readDirectory(uri: Uri): never {
    throw FileSystemError.FileNotFound(uri);
  }

  createDirectory(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
}
