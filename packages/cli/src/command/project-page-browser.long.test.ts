// The page of a project in a real browser, against `holdfast serve --project`: threads with their contents, and editing
// of prompts, across a kill of the server.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run, type Started, start } from "./spawn.fixture.ts";

const executablePath = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";
const hasNone = !existsSync(executablePath) && process.env.CI === undefined;
const whyNot = hasNone ? `: there is no Chromium at ${executablePath}` : "";

/** In place of the tool of the template: it keeps something of each kind. */
const keepingTool = `import { defineTool } from "@holdfast/threads";
import { z } from "zod";

export default defineTool({
	description: "Keeps a note in the thread's files.",
	args: z.object({ text: z.string() }),
	execute: async (state, { text }) => {
		await state.writeFile("/notes/today.txt", text, "text/plain");
		await state.setValue("last", { text });
		const day = 24 * 60 * 60 * 1000;
		await state.scheduleEffect("remove_note", { path: "/notes/today.txt" }, day);
		await state.scheduleEffect("remove_note", { path: "/notes" }, 2 * day);
		return { status: "success", result: "Noted." };
	},
});
`;

describe.skipIf(hasNone)(`the page of a project${whyNot}`, () => {
	let folder: string;
	let served: Started | undefined;
	let browser: Browser;
	let page: Page;
	let url: string;
	const faults: string[] = [];

	/** Serves the project, at the port it had before. */
	async function serve(): Promise<void> {
		const port = url === undefined ? "0" : new URL(url).port;
		served = start(["serve", "--project", "shop", "--port", port, "--json"], { folder });
		await served.until(/"type":"begin".*\n/);
		url = (
			JSON.parse(
				served
					.output()
					.split("\n")
					.find((line) => line.includes('"begin"')) ?? "{}",
			) as { url: string }
		).url;
	}

	async function kill(): Promise<void> {
		served?.child.kill("SIGKILL");
		await served?.finished;
	}

	beforeAll(async () => {
		folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
		await run(["init", "shop"], { folder });
		writeFileSync(join(folder, "shop/agents/tools/note.ts"), keepingTool);
		await serve();
		browser = await chromium.launch({
			executablePath,
			args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
		});
		page = await open(1_200, "light");
	});
	afterAll(async () => {
		await browser?.close();
		await kill();
		rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
		expect(faults).toEqual([]);
	});

	async function open(width: number, colorScheme: "light" | "dark"): Promise<Page> {
		const made = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
		made.setDefaultTimeout(60_000);
		made.on("pageerror", (error) => faults.push(error.stack ?? error.message));
		return made;
	}

	/** The address of the thread that is shown, with another tab. */
	const tab = (name: string): string => page.url().replace(/[^/]*$/, name);
	const answers = (text: string) => page.locator(".message-assistant .text", { hasText: text });

	test("a thread is created, answered, and continues across a kill of the server", async () => {
		await page.goto(url);
		await page.getByText("No threads yet.").waitFor();
		await page.getByLabel("Message of a new thread").fill("note: buy milk");
		await page.getByRole("button", { name: "Start" }).click();
		await answers("The tool note says: Noted.").waitFor();
		await page.getByText("assistant · offline").waitFor();
		await kill();
		await page.getByText("Cannot reach the server").waitFor();
		await serve();
		await page.getByText("Cannot reach the server").waitFor({ state: "detached" });
		await page.getByLabel("Message", { exact: true }).fill("What is 2 + 3?");
		await page.keyboard.press("Control+Enter");
		await answers("The tool add says: 5").waitFor();
		await expect.poll(() => page.locator(".message-user").count()).toBe(2);
	});

	test("lists the models of the project with their providers", async () => {
		const thread = page.url();
		await page.goto(`${url}/#/usage`);
		const models = page.getByLabel("Models").locator("tbody tr");
		await expect.poll(() => models.count()).toBeGreaterThan(0);
		expect(await models.first().locator("td").nth(2).textContent()).not.toBe("");
		await page.goto(thread);
	});

	test("shows its files, its values and its effects, which are run or cancelled", async () => {
		await page.goto(tab("files"));
		await page.getByRole("button", { name: "notes/" }).click();
		await page.getByRole("button", { name: /today\.txt/ }).click();
		await page.getByLabel("Content of today.txt").getByText("buy milk").waitFor();
		const downloaded = page.waitForEvent("download");
		await page.getByRole("button", { name: "Download" }).click();
		expect(readFileSync(await (await downloaded).path(), "utf8")).toBe("buy milk");
		await page.goto(tab("values"));
		await page.getByLabel("Value of last").getByText("buy milk").waitFor();
		await page.goto(tab("effects"));
		await expect.poll(() => page.locator(".effect-pending").count()).toBe(2);
		await page.getByRole("button", { name: "Cancel" }).last().click();
		await page.locator("li", { has: page.locator(".effect-canceled"), hasText: "/notes" }).waitFor();
		const other = await open(1_200, "light");
		await other.goto(page.url());
		await other.locator(".effect-pending").waitFor();
		await page.getByRole("button", { name: "Run now" }).click();
		await page.locator("li", { has: page.locator(".effect-completed"), hasText: "today.txt" }).waitFor();
		expect(await page.locator(".effect-pending").count()).toBe(0);
		// Visible to a mere watcher too.
		await other.locator(".effect-completed").waitFor();
		await other.close();
		await page.goto(tab("files"));
		await page.getByRole("button", { name: "notes/" }).click();
		await page.getByRole("button", { name: /today\.txt/ }).waitFor({ state: "detached" });
	});

	test("a prompt is edited: the next turn gets the new version, and the old one can be restored", async () => {
		const thread = page.url();
		await page.keyboard.press("p");
		await page.getByRole("link", { name: /assist/ }).click();
		await page.getByRole("textbox", { name: "Text" }).fill("You are brief.");
		await page.getByRole("button", { name: "Write version 1" }).click();
		await page.getByText("version 1, the current one").waitFor();
		await page.locator(".line-added", { hasText: "You are brief." }).waitFor();
		await page.goto(thread.replace(/[^/]*$/, "steps"));
		await page.getByLabel("Request").getByText("You are brief.").waitFor();
		await page.goto(`${url}/#/prompts/assist`);
		await page.getByRole("button", { name: /the project's own/ }).click();
		await page.getByRole("button", { name: "Write the project's own again" }).click();
		await page.getByText("version 2, the current one").waitFor();
		await page.goto(thread);
	});

	test("its own views are free of violations, in light and dark, and fit into 360 pixels", async () => {
		const thread = page
			.url()
			.replace(/^.*#/, "#")
			.replace(/[^/]*$/, "");
		const dark = await open(360, "dark");
		// The other views are those of sessions.
		const views = ["#/prompts/assist", ...["files", "values", "effects"].map((each) => thread + each)];
		for (const shown of [page, dark])
			for (const view of views) {
				await shown.goto(`${url}/${view}`);
				await shown.locator("main").waitFor();
				await shown.getByText("Reading…").waitFor({ state: "detached" });
				expect(await violationsOf(shown), view).toEqual([]);
				const wide = await shown.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				expect(wide, `${view} is wider than the window`).toBeLessThanOrEqual(0);
			}
	});

	test("a thread is removed with all its data", async () => {
		await page.goto(tab("conversation"));
		page.once("dialog", (dialog) => void dialog.accept());
		await page.getByRole("button", { name: "Delete" }).click();
		await page.getByText("No threads yet.").waitFor();
	});
});

/** Returns the accessibility violations of a page. */
async function violationsOf(page: Page): Promise<readonly string[]> {
	await page.evaluate(axe.source);
	return page.evaluate(async () => {
		const { axe: checker } = globalThis as unknown as {
			axe: { run(): Promise<{ violations: readonly { id: string; help: string }[] }> };
		};
		return (await checker.run()).violations.map(({ id, help }) => `${id}: ${help}`);
	});
}
