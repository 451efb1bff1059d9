// The table of sessions in a real browser: chosen columns, the search in messages, and actions on several sessions.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the table of sessions${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;

	beforeAll(async () => {
		stage = await openStage();
	});
	beforeEach(async () => {
		page = await stage.page();
	});
	afterEach(() => page?.context().close());
	afterAll(() => stage?.close());

	const line = (id: string) => page.locator(".session-line", { hasText: id });
	const heads = async () =>
		(await page.getByRole("columnheader").allTextContents()).map((text) => text.replace(/ [↑↓]/, ""));

	test("shows the columns that were chosen, over a reload, and those that fit the window", async () => {
		await stage.say("columned", "add it up");
		await page.goto(`${stage.url}/#/?q=columned`);
		await line("columned").waitFor();
		const columns = page.getByRole("button", { name: "Columns" });
		await columns.click();
		await page.getByLabel("Calls").check();
		await page.getByLabel("Agent").uncheck();
		expect(await violationsOf(page)).toEqual([]);
		await page.keyboard.press("Escape");
		const hasFocus = () => columns.evaluate((element) => element === element.ownerDocument.activeElement);
		await expect.poll(hasFocus).toBe(true);
		const chosen = ["", "Status", "Title", "Steps", "Calls", "Tokens", "Cost", "Duration", "Last activity"];
		expect(await heads()).toEqual(chosen);
		await page.reload();
		await line("columned").waitFor();
		expect(await heads()).toEqual(chosen);
		await page.getByRole("columnheader", { name: "Calls" }).getByRole("button").click();
		expect(page.url()).toContain("sort=calls");
		await page.setViewportSize({ width: 720, height: 800 });
		await expect.poll(heads).toEqual(["", "Status", "Title", "Tokens", "Cost", "Last activity"]);
	});

	test("finds what sessions say, marks it, and opens the session there", async () => {
		await stage.say("searched", "What about the walnut table?");
		await stage.say("unsearched", "Hello");
		await page.goto(stage.url);
		await line("unsearched").first().waitFor();
		await page.getByLabel("Search sessions").fill("very well");
		await page.getByText("No matches.").waitFor();
		await page.getByRole("button", { name: "Search in messages too" }).click();
		await line("What about the walnut table?").locator("mark", { hasText: "Very" }).waitFor();
		await page.getByText(/^Searched the messages of \d+ sessions\. Found in \d/).waitFor();
		await picture(page, "search");
		expect(await violationsOf(page)).toEqual([]);
		await page.reload();
		await line("What about the walnut table?").locator("mark", { hasText: "well" }).waitFor();
		await stage.say("late", "Another question");
		await line("Another question").locator("mark", { hasText: "Very" }).waitFor();
		await line("Another question").getByRole("link").click();
		await page.locator(".span.is-selected", { hasText: "clever-1" }).waitFor();
	});

	test("a search that the reader stops says how far it got, and can continue", async () => {
		await stage.say("stopped", "Say something");
		let release = (): void => {};
		await page.route("**/api/inspect/search?*", async (route) => {
			await new Promise<void>((resolve) => {
				release = resolve;
			});
			await route.abort().catch(() => {}); // The page has aborted it.
		});
		await page.goto(`${stage.url}/#/?q=something&within=messages`);
		await page.getByText("Searching messages: 0 of").waitFor();
		await page.getByRole("button", { name: "Stop" }).click();
		await page.getByText("The search stopped after 0 of").waitFor();
		release();
		await page.unroute("**/api/inspect/search?*");
		await page.getByRole("button", { name: "Continue" }).click();
		await page.getByText(/^Searched the messages of/).waitFor();
	});

	test("names the sessions that cannot be read", async () => {
		await stage.say("intact", "Hello");
		const failure = { code: "journal_corrupt", message: "The journal is damaged." };
		const torn = { sessionId: "torn", status: "unreadable", seq: 0, createdAt: 0, updatedAt: 0, failure };
		await page.route(/\/api\/inspect\/sessions(?!\?ids)/, async (route) => {
			const answer = await (await route.fetch()).json();
			await route.fulfill({
				json: { ...answer, sessions: [...answer.sessions, torn] },
			});
		});
		await page.goto(stage.url);
		await line("intact").waitFor();
		await line("torn").getByText("journal_corrupt: The journal is damaged.").waitFor();
		expect(await violationsOf(page)).toEqual([]);
	});

	test("does not request the event stream of a damaged session again, and follows its changes", async () => {
		await stage.say("damaged", "Hello");
		let requests = 0;
		await page.route("**/api/agent/session/damaged/events?*", (route) => {
			requests++;
			const error = "The stored data cannot be read.";
			return route.fulfill({ status: 500, json: { error, code: "journal_corrupt" } });
		});
		await page.goto(`${stage.url}/#/session/damaged`);
		await page.getByText("The event stream of this session cannot be read (journal_corrupt)").waitFor();
		await stage.say("damaged", "Are you still there?");
		await page.getByText("Are you still there?").first().waitFor();
		await page.waitForTimeout(2_000); // several times what the page waits before a retry
		expect(requests).toBe(1);
		await picture(page, "damaged-stream");
		expect(await violationsOf(page)).toEqual([]);
	});

	test("acts on the selected sessions after a confirmation, and shows the result of each", async () => {
		for (const id of ["bulk-one", "bulk-two", "bulk-three"]) await stage.say(id, "erase all");
		await page.goto(`${stage.url}/#/?q=bulk`);
		await line("bulk-three").waitFor();
		await page.getByLabel("Select bulk-one").check();
		await page.getByLabel("Select bulk-three").click({ modifiers: ["Shift"] });
		await page.getByText("3 selected").waitFor();
		await page.getByLabel("Select bulk-two").uncheck();
		await page.getByRole("button", { name: "Interrupt…" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("heading", { name: "Interrupt 2 sessions?" }).waitFor();
		expect(await violationsOf(page)).toEqual([]);
		await dialog.getByRole("button", { name: "Cancel" }).click();
		expect(await page.locator(".status-waiting").count()).toBe(3);
		await page.getByRole("button", { name: "Interrupt…" }).click();
		await dialog.getByRole("button", { name: "Interrupt" }).click();
		await dialog.getByText("2 of 2").waitFor();
		await picture(page, "bulk");
		await dialog.getByRole("button", { name: "Close" }).click();
		await expect.poll(() => page.locator(".status-waiting").count()).toBe(1);
		await line("bulk-two").getByText("waiting").waitFor();
		await page.getByLabel("Select all listed sessions").check();
		await page.getByRole("button", { name: "Release…" }).click();
		await dialog.getByRole("button", { name: "Release" }).click();
		await expect.poll(() => dialog.getByText("No run to continue").count()).toBeGreaterThan(1);
		await dialog.getByRole("button", { name: "Close" }).click();
		await page.getByLabel("Select all listed sessions").check();
		await page.route("**/api/agent/session/bulk-two", (route) => route.abort());
		await page.getByRole("button", { name: "Delete…" }).click();
		await dialog.getByRole("button", { name: "Delete" }).click();
		await dialog.getByText("3 of 3, 1 failed").waitFor();
		await dialog.getByRole("button", { name: "Close" }).click();
		await line("bulk-one").waitFor({ state: "detached" });
		await line("bulk-two").waitFor();
	});

	for (const [width, colorScheme] of [
		[360, "light"],
		[360, "dark"],
		[1440, "dark"],
	] as const) {
		test(`has no accessibility faults with ${width} pixels, ${colorScheme}`, async () => {
			await stage.say("shown", "add it up");
			const other = await stage.page({ width, colorScheme });
			await other.goto(`${stage.url}/#/?q=add&within=messages`);
			await other.locator(".session-line").first().waitFor();
			await other.getByText(/^Searched the messages of/).waitFor();
			await picture(other, `table-${width}-${colorScheme}`);
			expect(await violationsOf(other)).toEqual([]);
			expect(
				await other.evaluate(
					() => document.documentElement.scrollWidth > document.documentElement.clientWidth,
				),
			).toBe(false);
			await other.context().close();
		});
	}
});
