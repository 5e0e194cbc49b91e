/**
 * What a person reads first after the installation of the package: the extension's page, the
 * walkthrough and the documentation; and the program that they name, in a terminal.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { manifest } from "./packaged.ts";
import { checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

/** Waits until all pictures have loaded. */
const checkPictures = (pictures: Locator): Promise<void> =>
  vi.waitFor(async () => {
    const widths = await pictures.evaluateAll(all =>
      all.map(it => (it as HTMLImageElement).naturalWidth),
    );
    expect(widths.length).toBeGreaterThan(0);
    expect(Math.min(...widths)).toBeGreaterThan(0);
  }, waitOptions);

test("the extension's page says where to click, and its pictures and links work", async () => {
  await workbench.runCommand("Extensions: Show Installed Extensions");
  await workbench.page.locator(".extension-list-item .name", { hasText: /^PROVE$/ }).click();
  const page = workbench.webview();
  await checkVisible(page.getByRole("heading", { name: "Start here" }));
  await checkPictures(workbench.page.locator(".extension-editor img.icon"));
  // the editor removes the sources of pictures that are not on the network
  expect(await page.locator("img").count()).toBe(0);
  const targets = await page
    .locator("a")
    .evaluateAll(all => all.map(it => it.getAttribute("href") ?? ""));
  expect(targets.length).toBeGreaterThan(1);
  const anchors = targets.filter(it => it.startsWith("#") && it !== "#");
  for (const anchor of anchors) expect(await page.locator(anchor).count()).toBe(1);
  const addresses = targets.filter(it => !it.startsWith("#"));
  expect(addresses.filter(it => !it.startsWith("https://"))).toEqual([]);
  // the attempt has the colors of a transcript
  const colors = await page
    .locator("pre span[class*=mtk]")
    .evaluateAll(all => all.map(it => getComputedStyle(it).color));
  expect(new Set(colors).size).toBeGreaterThan(3);
  await workbench.takePicture("extension-page");
  await workbench.page.getByRole("button", { name: "Changelog" }).click();
  await checkVisible(page.getByRole("heading", { name: "Changelog" }));
  expect(await page.locator("a:not([href])").count()).toBe(0);
  await workbench.closeEditors();
});

test("the documentation opens with its pictures, and its pages lead to each other", async () => {
  await workbench.runCommand("PROVE: Open Documentation");
  const page = workbench.webview();
  await checkVisible(page.getByRole("heading", { name: "Documentation" }));
  await checkPictures(page.locator("img"));
  await workbench.takePicture("documentation");
  await page.getByRole("link", { name: "In the editor" }).click();
  await checkVisible(page.getByRole("heading", { name: "Debugger" }));
  await checkPictures(page.locator("img"));
  await workbench.closeEditors();
});

test("the walkthrough opens", async () => {
  await workbench.runCommand("PROVE: Get Started");
  await checkVisible(workbench.page.getByRole("heading", { name: "Trust the Folder" }));
  await workbench.closeEditors();
});

test("a terminal has the command-line program", async () => {
  await workbench.runCommand("Terminal: Create New Terminal");
  await workbench.page.locator(".terminal-wrapper.active .xterm-helper-textarea").focus();
  await workbench.page.keyboard.type("prove-rl --version > version.txt");
  await workbench.page.keyboard.press("Enter");
  const file = join(workbench.folder, "version.txt");
  await vi.waitFor(
    () => expect(readFileSync(file, "utf8").trim()).toBe(manifest.version),
    waitOptions,
  );
});
