// The page with ten thousand entries: the size of the document does not grow with them. Also the page's transfer size.
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageFiles } from "./assets/bundle-page.ts";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";
import { manyEntries } from "./many-entries.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the inspector with much to show${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;

	beforeAll(async () => {
		stage = await openStage();
		await stage.say("s", "Hello");
		page = await stage.page();
	});
	afterAll(() => stage?.close());

	/** Shows the session as if it had this many entries; returns the number of elements in the document. */
	async function show(tab: string, count: number): Promise<number> {
		const entries = manyEntries(count);
		await page.unrouteAll({ behavior: "ignoreErrors" });
		await page.route("**/api/inspect/session/s/entries?**", (route) => {
			const after = Number(new URL(route.request().url()).searchParams.get("after"));
			const rest = entries.slice(after, after + 1_000);
			return route.fulfill({ json: { entries: rest, isLast: after + rest.length >= count } });
		});
		await page.goto("about:blank");
		await page.goto(`${stage.url}/#/session/s/${tab}`);
		await page.locator(".list-line").first().waitFor();
		await expect
			.poll(() => page.locator(".list-line").first().getAttribute("aria-setsize").then(Number))
			.toBeGreaterThan(count / 5);
		return page.evaluate(() => document.querySelectorAll("*").length);
	}

	test("ten thousand entries need as many elements as some hundred, in every list", async () => {
		for (const tab of ["timeline", "conversation", "steps"]) {
			const few = await show(tab, 400);
			const many = await show(tab, 10_000);
			expect(many, `${tab}: ${few} elements for 400 entries, ${many} for 10,000`).toBeLessThan(few * 1.5);
		}
	});

	test("the first and the last of ten thousand are one key away", async () => {
		await show("timeline", 10_000);
		const rows = () => page.locator(".list-line").first().getAttribute("aria-setsize").then(Number);
		await expect.poll(rows).toBeGreaterThan(10_000);
		await page.locator(".timeline").focus();
		await page.keyboard.press("End");
		await page.locator(".span-label", { hasText: "3334" }).first().waitFor();
		await page.keyboard.press("Home");
		await page.locator(".span-label", { hasText: "Run 1" }).waitFor();
	});
});

test("the page is smaller than 180 KB compressed, and sends requests only to its server", async () => {
	const files = await pageFiles();
	let bytes = 0;
	for (const content of files.values()) bytes += gzipSync(content).length;
	expect(bytes).toBeLessThan(180 * 1024);
	const html = new TextDecoder().decode(files.get("index.html"));
	const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
	// Links within the page name a path of the server, or a place in the page.
	expect(addresses.filter((address) => !/^(?:\/inspector\/|#)/.test(address ?? ""))).toEqual([]);
	expect([...files.keys()].sort()).toEqual(["app.css", "app.js", "highlight.js", "icon.svg", "index.html"]);
});
