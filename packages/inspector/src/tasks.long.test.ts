// Five tasks of an operator, from the list of sessions to the answer: the clicks and the seconds that each takes.
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

/** Milliseconds of a day. */
const day = 86_400_000;

describe.skipIf(whyNot !== undefined)(`the tasks of an operator${whyNot ?? ""}`, () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
		for (const [id, input] of [
			["order-add", "add it up"],
			["order-failed", "fail now"],
			["order-pay", "pay it back"],
			["order-where", "where am I?"],
			["order-page", "page"],
		] as const)
			await stage.say(id, input);
	});
	afterAll(() => stage?.close());

	/** Performs a task on a page that shows the list, counts its clicks, and prints both. */
	async function task(
		name: string,
		most: number,
		work: (page: Page, click: (at: Locator) => Promise<void>, choose: Choose) => Promise<void>,
		{ later = 0 }: { readonly later?: number } = {},
	): Promise<void> {
		const page = await stage.page({ width: 1440 });
		if (later > 0) await page.clock.install({ time: Date.now() + later });
		await page.goto(stage.url);
		await page.locator(".session-line").first().waitFor();
		let clicks = 0;
		const begun = performance.now();
		await work(
			page,
			async (at) => {
				clicks++;
				await at.click();
			},
			async (at, value) => {
				clicks += 2; // opens the list, and chooses
				await at.selectOption(value);
			},
		);
		const seconds = (performance.now() - begun) / 1_000;
		await picture(page, `task-${name.replaceAll(" ", "-")}`);
		expect(await violationsOf(page)).toEqual([]);
		await page.context().close();
		console.log(`${name}: ${clicks} clicks, ${seconds.toFixed(1)} s`);
		expect(clicks).toBeLessThanOrEqual(most);
	}
	type Choose = (at: Locator, value: string) => Promise<void>;

	const line = (page: Page, id: string) => page.locator(".session-line", { hasText: id });

	test("finds the failed run of yesterday, and why it failed, with six clicks", async () => {
		await task(
			"failed run",
			6,
			async (page, click, choose) => {
				await choose(page.getByLabel("Last activity"), "yesterday");
				await choose(page.getByLabel("Status", { exact: true }), "error");
				await line(page, "order-failed").getByText("run_failed: The provider is on fire.").waitFor();
				expect(await page.locator(".session-line").count()).toBe(1);
				await click(line(page, "order-failed").getByRole("link"));
				await click(page.locator(".timeline .span-run").first().locator(".span-main"));
				await page.locator(".details").getByText("The provider is on fire.").first().waitFor();
			},
			{ later: day },
		);
	});

	test("approves a payment with a changed amount with three clicks", async () => {
		await task("approve with changes", 3, async (page, click) => {
			await click(line(page, "order-pay").getByRole("link"));
			await click(page.getByLabel("amount"));
			await page.getByLabel("amount").fill("12.5");
			await click(page.getByRole("button", { name: "Approve with changes" }));
			await page.locator(".session-head .status", { hasText: "completed" }).waitFor();
		});
	});

	test("compares two prompts on the request of an answer with four clicks", async () => {
		await task("compare prompts", 4, async (page, click) => {
			await click(line(page, "order-add").getByRole("link"));
			await click(page.getByRole("tab", { name: "Playground" }));
			await click(page.getByLabel("Instructions"));
			await page.getByLabel("Instructions").fill("Answer in one word.");
			await click(page.getByRole("button", { name: "Call the model" }));
			await page.getByRole("heading", { name: "Difference" }).waitFor();
		});
	});

	test("sees what the cache saved with two clicks", async () => {
		await task("cache", 2, async (page, click) => {
			await click(line(page, "order-page").getByRole("link"));
			await click(page.getByRole("tab", { name: "Context" }));
			await page.getByText("from the cache").first().waitFor();
		});
	});

	test("answers a remote tool with three clicks", async () => {
		await task("answer a remote tool", 3, async (page, click) => {
			await click(line(page, "order-where").getByRole("link"));
			await click(page.getByLabel("Result of where"));
			await page.getByLabel("Result of where").fill("In Rome.");
			await click(page.getByRole("button", { name: "Answer", exact: true }));
			await page.locator(".session-head .status", { hasText: "completed" }).waitFor();
		});
	});
});
