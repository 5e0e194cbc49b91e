/** Activation of the extension. Runs inside the extension host. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { commands, extensions } from "vscode";

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe("the extension in its host", () => {
  it("activates, and registers every command of its manifest", async () => {
    const extension = extensions.getExtension("prove-rl.prove-rl");
    assert.ok(extension, "the extension is not installed");
    assert.equal(extension.isActive, false, "it was active before it was needed");
    await extension.activate();
    const registered = new Set(await commands.getCommands(true));
    const listed = (extension.packageJSON as Manifest).contributes.commands.map(it => it.command);
    assert.deepEqual(
      listed.filter(it => !registered.has(it)),
      [],
    );
  });
});
