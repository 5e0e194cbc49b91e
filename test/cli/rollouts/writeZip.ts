/** Writes zip archives whose files are compressed as each test says. */
import { writeFileSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";

/** A file of an archive: what is stored for it, and its contents. */
export interface ZippedFile {
  readonly name: string;
  readonly method: number;
  readonly bytes: Buffer;
  readonly text: string;
}

export const stored = (name: string, text: string): ZippedFile => ({
  name,
  method: 0,
  bytes: Buffer.from(text),
  text,
});

export const deflated = (name: string, text: string): ZippedFile => ({
  name,
  method: 8,
  bytes: deflateRawSync(text),
  text,
});

export const writeZip = (path: string, files: readonly ZippedFile[]): void =>
  writeFileSync(path, createZip(files));

export function createZip(files: readonly ZippedFile[]): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const { name, method, bytes, text } of files) {
    const contents = Buffer.from(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // version
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(contents), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(contents.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), bytes]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    index.push(
      Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, place, Buffer.from(name)]),
    );
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(index);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, directory, Buffer.from("PK\x05\x06"), end]);
}
