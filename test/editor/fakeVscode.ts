/** A fake of the parts of the VS Code API that trees use, for `vi.mock("vscode", …)`. */

class FakeEmitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  readonly event = (listener: (event: Event) => void) => {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  };
  fire(event: Event): void {
    for (const it of this.#listeners) it(event);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

class FakeTreeItem {
  readonly label: string;
  readonly collapsibleState: number;
  constructor(label: string, collapsibleState: number) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

class FakeIcon {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export const createVscode = () => ({
  EventEmitter: FakeEmitter,
  TreeItem: FakeTreeItem,
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  ThemeIcon: FakeIcon,
  ThemeColor: FakeIcon,
  Uri: { from: (parts: object) => parts },
  CancellationError: class extends Error {},
  QuickInputButtons: {},
  ProgressLocation: {},
  commands: { executeCommand: async () => undefined },
  window: {},
  languages: {
    createDiagnosticCollection: () => ({ set() {}, delete() {}, forEach() {}, dispose() {} }),
  },
  DiagnosticSeverity: {},
  ConfigurationTarget: {},
  workspace: {
    isTrusted: false,
    getConfiguration: () => ({ get: () => undefined }),
  },
});
