/**
 * Finds entities in the fixtures that attempts start from. A variant of a fixture has no file: it
 * is shown as a read-only document.
 */
import { Location, Range, Uri, workspace } from "vscode";
import { findRange } from "../../../storage/jsonPosition.ts";
import { findEntityPath } from "../../../trajectory/worldEntities.ts";
import type { FixtureFiles } from "../../fixtures/fixtureFiles.ts";
import type { ReadOnlyFiles } from "../../shared/readOnlyFiles.ts";
import type { ServerDefinitions } from "../../shared/serverDefinitions.ts";
import {
  getServer,
  listStartWorlds,
  type IdOccurrence,
  type TranscriptIds,
} from "./transcriptIds.ts";

export class FixtureEntities {
  readonly #fixtures: FixtureFiles;

  constructor(fixtures: FixtureFiles, files: ReadOnlyFiles, definitions: ServerDefinitions) {
    this.#fixtures = fixtures;
    files.provide("/variants/", async uri => {
      const catalog = await definitions.openCatalog();
      const { server, fixture } = parseVariantUri(uri);
      return `${JSON.stringify(catalog.getFixture(server, fixture), null, 2)}\n`;
    });
  }

  /** The place of an id's entity in a fixture; undefined if no fixture of the attempt has it. */
  async find(ids: TranscriptIds, occurrence: IdOccurrence): Promise<Location | undefined> {
    const first = getServer(ids, occurrence);
    const worlds = listStartWorlds(ids.attempt).toSorted(
      (a, b) => Number(b.server === first) - Number(a.server === first),
    );
    for (const { server, fixture, world } of worlds) {
      const path = findEntityPath(world, occurrence.id, ids.kinds.get(occurrence.id));
      if (!path) continue;
      const uri = this.#getUri(server, fixture);
      const document = await workspace.openTextDocument(uri);
      const { start, end } = findRange(document.getText(), ["state", ...path]);
      return new Location(uri, new Range(document.positionAt(start), document.positionAt(end)));
    }
    return undefined;
  }

  #getUri(server: string, fixture: string): Uri {
    const file = this.#fixtures.find(server, fixture);
    return file
      ? this.#fixtures.getDocumentUri(file)
      : Uri.from({ scheme: "prove", path: `/variants/${server}/${fixture}.json` });
  }
}

function parseVariantUri({ path }: Uri): { readonly server: string; readonly fixture: string } {
  const [server = "", file = ""] = path.split("/").slice(2);
  return { server, fixture: file.replace(/\.json$/, "") };
}
