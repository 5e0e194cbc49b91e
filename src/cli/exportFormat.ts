/** What a format of `export` is. The formats are in exportFormats.ts. */
import type { Catalog } from "../environment/catalog.ts";
import type { JsonObject } from "../environment/json.ts";
import type { ParquetColumns } from "../storage/parquet.ts";
import type { Task } from "../trajectory/task.ts";

export interface ExportFormat {
  readonly name: string;
  /** What reads the rows, for the title of the dataset card. */
  readonly reader: string;
  /** What a row is, in full sentences, for the dataset card. */
  readonly description: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The types of the columns, if the rows are written as Parquet instead of JSON Lines. */
  readonly parquet?: ParquetColumns;
  /** `position` is the number of rows that the split has already. */
  readonly createRows: (task: Task, catalog: Catalog, position: number) => readonly JsonObject[];
}
