/** Parquet files that are written row by row, read back. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { readParquetRows, ParquetFile } from "../../src/storage/parquet.ts";
import { emptyFolder } from "../cli/program.ts";

const file = () => join(emptyFolder(), "rows.parquet");

test("columns may be lists and structures, and their values may be missing", async () => {
  const path = file();
  const rows = [
    { id: "a", n: 2 ** 40, said: [{ role: "user" }, { role: "tool", calls: ["é", ""] }], at: null },
    { id: "", n: null, said: [], at: { n: -1 } },
    { id: null, n: null, said: null, at: null },
  ];
  const writer = new ParquetFile(path, {
    id: "string",
    n: "int",
    said: { list: { struct: { role: "string", calls: { list: "string" } } } },
    at: { struct: { n: "int", name: "string" } },
  });
  for (const it of rows) writer.append(it);
  writer.close();
  expect(await readParquetRows(path)).toEqual(rows);
});

test("rows of several groups keep their order", async () => {
  const path = file();
  const writer = new ParquetFile(path, { n: "int" });
  for (let n = 0; n < 2_500; n++) writer.append({ n });
  writer.close();
  const rows = (await readParquetRows(path)) as { readonly n: number }[];
  expect(rows.map(it => it.n)).toEqual(Array.from({ length: 2_500 }, (_, n) => n));
});

test("a folder that does not exist is named", () => {
  const path = join(emptyFolder(), "gone/rows.parquet");
  expect(() => new ParquetFile(path, { n: "int" })).toThrow(path);
});
