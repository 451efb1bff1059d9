// Responses that arrive late, in a real browser: none replaces a newer one, or what the user is about to press.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";

describe.skipIf(whyNot !== undefined)(`late responses of the inspector${whyNot ?? ""}`, () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
	});
	afterAll(() => stage?.close());

	test("of two responses about a sub-agent, the one that was requested last is shown", async () => {
		const page = await stage.page({ width: 1440 });
		await stage.say("nested", "ask the helper");
		let requests = 0;
		const first = Promise.withResolvers<void>();
		const second = Promise.withResolvers<void>();
		await page.route("**/api/inspect/session/nested/entries?after=0&child=*", async (route) => {
			const response = await route.fetch();
			if (++requests > 1) {
				await route.fulfill({ response }).catch(() => {});
				second.resolve();
				return;
			}
			const { entries, ...rest } = await response.json();
			await first.promise;
			await route.fulfill({ json: { ...rest, entries: entries.slice(0, 2) } }).catch(() => {});
		});
		await page.goto(`${stage.url}/#/session/nested/timeline`);
		const open = page.getByRole("button", { name: "Contents of delegate_to_helper" });
		await open.click();
		await open.click();
		await second.promise;
		const steps = page.locator(".span", { hasText: "Step 1" });
		await expect.poll(() => steps.count()).toBe(2);
		first.resolve();
		await page.waitForTimeout(300);
		expect(await steps.count()).toBe(2);
	});

	test("a row stays the same button when it turns out that a sub-agent worked for it", async () => {
		const page = await stage.page({ width: 1440 });
		await stage.say("scripted", "run the script");
		const known = Promise.withResolvers<void>();
		await page.route("**/api/inspect/session/scripted", async (route) => {
			await known.promise;
			await route.continue().catch(() => {});
		});
		await page.goto(`${stage.url}/#/session/scripted/timeline`);
		const row = await page
			.locator(".span-tool", { hasText: "run_code" })
			.locator(".span-main")
			.elementHandle();
		await row?.focus();
		known.resolve();
		await page.getByRole("button", { name: "Contents of run_code" }).waitFor();
		expect(await row?.getAttribute("class")).toBe("span-main");
		await page.keyboard.press("Enter");
		await page.getByRole("region", { name: "Details of run_code" }).waitFor();
	});
});
