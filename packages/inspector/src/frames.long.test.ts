// What a frame costs the page's main thread while ten thousand entries are scrolled, and while they arrive. Other programs
// use the processor too, so CPU time is measured, not frames per second.
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";
import { manyEntries } from "./many-entries.fixture.ts";

/** A frame at fifty frames per second, in milliseconds. */
const frameMs = 20;

describe.skipIf(whyNot !== undefined)(`a frame${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;
	let cdp: CDPSession;

	beforeAll(async () => {
		stage = await openStage();
		await stage.say("s", "Hello");
		page = await stage.page({ width: 1440 });
		cdp = await page.context().newCDPSession(page);
		await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	});
	afterAll(() => stage?.close());

	/** CPU milliseconds of the main thread so far, in all and of its parts. */
	async function spent(): Promise<readonly number[]> {
		const { metrics } = await cdp.send("Performance.getMetrics");
		return ["TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration"].map(
			(part) => (metrics.find(({ name }) => name === part)?.value ?? 0) * 1_000,
		);
	}

	/** Milliseconds of CPU per time; also prints them. */
	async function costOf(what: string, times: number, act: () => Promise<unknown>): Promise<number> {
		const before = await spent();
		await act();
		const parts = (await spent()).map((ms, at) => (ms - (before[at] ?? 0)) / times);
		const [all = 0, ...others] = parts;
		const [script, style, layout] = others.map((ms) => ms.toFixed(1));
		console.log(`${what}: ${all.toFixed(1)} ms of CPU (script ${script}, style ${style}, layout ${layout})`);
		return all;
	}

	let count = 10_000;
	async function show(tab: string): Promise<void> {
		const entries = manyEntries(12_000);
		count = 10_000;
		await page.unrouteAll({ behavior: "ignoreErrors" });
		await page.route("**/api/inspect/session/s/entries?**", (route) => {
			const after = Number(new URL(route.request().url()).searchParams.get("after"));
			const rest = entries.slice(after, Math.min(count, after + 1_000));
			return route.fulfill({ json: { entries: rest, isLast: after + rest.length >= count } });
		});
		await page.goto("about:blank");
		await page.goto(`${stage.url}/#/session/s/${tab}`);
		await expect
			.poll(() => page.locator(".list-line").first().getAttribute("aria-setsize").then(Number))
			.toBeGreaterThan(3_000);
	}

	for (const [tab, list] of [
		["timeline", ".timeline"],
		["conversation", ".conversation"],
	] as const)
		test(`of scrolling through the ${tab} fits into a fiftieth of a second`, async () => {
			await show(tab);
			// By 120 pixels, as a wheel does, and by so much that every line is a new one.
			for (const pixels of [120, 2_000]) {
				const scroll = () =>
					page.evaluate(
						async ([selector, by]) => {
							const element = document.querySelector(selector) as HTMLElement;
							element.scrollTop = 0;
							for (let frame = 0; frame < 200; frame++) {
								element.scrollTop += by;
								await new Promise((resolve) => requestAnimationFrame(resolve));
							}
						},
						[list, pixels] as const,
					);
				const ms = await costOf(`${tab}, ${pixels} pixels per frame`, 200, scroll);
				expect(ms).toBeLessThan(pixels === 120 ? frameMs : 2 * frameMs);
			}
		});

	test("of a step that arrives in a session of ten thousand entries fits into a few of them", async () => {
		await show("conversation");
		const ms = await costOf("a step that arrives", 20, async () => {
			for (let update = 0; update < 20; update++) {
				const seen = page.waitForResponse("**/api/inspect/session/s/entries?**");
				count += 30;
				await stage.say("s", "More");
				await seen;
			}
		});
		expect(ms).toBeLessThan(200);
	});
});
