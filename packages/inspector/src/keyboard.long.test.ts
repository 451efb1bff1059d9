// Every view by keyboard alone: each control is reached with Tab and shows that it has the focus, and what is closed
// returns it.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";

/** Controls that Tab must reach. Tabs have one stop for all of them; what is in closed details has none. */
const controls =
	"a[href], button:not(:disabled):not([tabindex='-1']), input:not(:disabled), select:not(:disabled), textarea, summary, [tabindex='0']";

/** Presses Tab until the focus is where it began; returns the controls that were not reached, or showed no focus. */
async function unreached(page: Page): Promise<readonly string[]> {
	await page.evaluate((selector) => {
		(document.activeElement as HTMLElement | null)?.blur();
		scrollTo(0, 0);
		for (const each of document.querySelectorAll<HTMLElement>(selector)) {
			const isShown =
				each.checkVisibility({ visibilityProperty: true }) && each.closest("[popover]") === null;
			if (isShown) each.dataset.wanted = "";
		}
	}, controls);
	const faint = new Set<string>();
	for (let presses = 0; presses < 400; presses++) {
		await page.keyboard.press("Tab");
		const at = await page.evaluate(() => {
			const focused = document.activeElement as HTMLElement;
			// The outline of a row's main control is that of the whole row.
			const isShown = [undefined, "::after"].some((part) => {
				const { outlineStyle, outlineWidth } = getComputedStyle(focused, part);
				return outlineStyle !== "none" && outlineWidth !== "0px";
			});
			const wasWanted = focused.dataset.wanted !== undefined;
			delete focused.dataset.wanted;
			const isAgain = focused === document.body || focused.dataset.reached !== undefined;
			focused.dataset.reached = "";
			return { isAgain, isShown, wasWanted, html: focused.outerHTML.slice(0, 160) };
		});
		if (at.isAgain && presses > 0) break;
		if (!at.isShown && at.wasWanted) faint.add(`no visible focus: ${at.html}`);
	}
	const missed = await page.evaluate(() =>
		[...document.querySelectorAll<HTMLElement>("[data-wanted]")]
			.filter((each) => each.checkVisibility({ visibilityProperty: true }))
			.map((each) => `not reached: ${each.outerHTML.slice(0, 160)}`),
	);
	return [...missed, ...faint];
}

describe.skipIf(whyNot !== undefined)(`the inspector by keyboard${whyNot ?? ""}`, () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
		await stage.say("keys", "add it up");
		await stage.say("keys", "ask the helper");
		await stage.say("other", "Show the page");
		await stage.say("waits", "pay it back");
		await stage.say("remote", "where am I");
		await stage.say("failed", "fail");
	});
	afterAll(() => stage?.close());

	test.each([
		"",
		"usage",
		"compare/keys/other",
		"session/waits/conversation",
		"session/remote/conversation",
		"session/failed/conversation",
		...["timeline", "steps", "context", "tree", "plan", "charts", "replay", "playground"].map(
			(tab) => `session/keys/${tab}`,
		),
	])("each control of /%s is reached with Tab, and shows its focus", async (path) => {
		const page = await stage.page({ width: 1440 });
		await page.goto(`${stage.url}/#/${path}`);
		await page.locator("main button, main a").first().waitFor();
		await page.waitForTimeout(600);
		expect(await unreached(page)).toEqual([]);
		await page.context().close();
	});

	test("what is closed returns the focus: dialogs, and the details of the trace", async () => {
		const page = await stage.page({ width: 1440 });
		await page.goto(`${stage.url}/#/session/keys/timeline`);
		const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
		for (const [name, closes] of [
			["Fork…", () => page.getByRole("button", { name: "Cancel" }).press("Enter")],
			["Fork…", () => page.keyboard.press("Escape")],
			["Keyboard shortcuts", () => page.getByRole("button", { name: "Close", exact: true }).press("Enter")],
		] as const) {
			const button = page.getByRole("button", { name }).first();
			await button.focus();
			await page.keyboard.press("Enter");
			await page.locator("dialog[open]").waitFor();
			await closes();
			await page.locator("dialog[open]").waitFor({ state: "detached" });
			expect([name, await focused()]).toEqual([name, name === "Fork…" ? name : "?"]);
		}
		const row = page.locator(".span-tool", { hasText: "add" }).locator(".span-main");
		for (const close of ["button", "Escape"]) {
			await row.focus();
			await page.keyboard.press("Enter");
			await page.getByRole("region", { name: "Details of add" }).waitFor();
			if (close === "Escape") await page.keyboard.press("Escape");
			else await page.getByRole("button", { name: "Close details" }).press("Enter");
			await page.getByRole("region", { name: "Details of add" }).waitFor({ state: "detached" });
			expect([close, await focused()]).toEqual([close, expect.stringContaining("add")]);
		}
	});
});
