/**
 * The files of the scheme `prove`, which are made up when they are read: transcripts, shipped
 * fixtures, what a live session gave. They can be read and nothing else, and tabs that show them
 * come back after a reload. Knows nothing of their text.
 */
import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from "vscode";

export class ReadOnlyFiles implements FileSystemProvider {
  readonly #textOf: (uri: Uri) => string | Promise<string>;
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  /** Counts changes: an editor reads a file again when its time of change is another. */
  #version = 1;

  constructor(textOf: (uri: Uri) => string | Promise<string>) {
    this.#textOf = textOf;
  }

  /** Lets whoever shows the file read it again. */
  change(uri: Uri): void {
    this.#version++;
    this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
  }

  watch(): Disposable {
    // changes are told for every file, watched or not
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
    return new TextEncoder().encode(await this.#textOf(uri));
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
