// The overview in a real browser: its numbers, charts and tables.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the overview of the inspector${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;

	beforeAll(async () => {
		stage = await openStage();
		await stage.say("added", "add it up");
		await stage.say("broken", "broken please");
		await stage.say("asked", "erase all");
		page = await stage.page({ width: 1440 });
	});
	afterAll(() => stage?.close());

	test("shows what needs a person, latencies with axes, and tables by agent, model, tool and day", async () => {
		await page.goto(`${stage.url}/#/usage`);
		await page.getByRole("img", { name: /^Latency of answers: at most \d+ ms$/ }).waitFor();
		await page.getByText("p95", { exact: true }).first().waitFor();
		await page.getByRole("button", { name: "By tool" }).click();
		const row = (name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) });
		await row("broken 1 1").waitFor();
		await row("add 1 0").waitFor();
		await page.getByRole("button", { name: "By model" }).click();
		await row("clever-1").waitFor();
		await page.getByRole("button", { name: "By day" }).click();
		await row(new Date().toLocaleDateString("en-CA")).waitFor();
		await picture(page, "overview");
		expect(await violationsOf(page)).toEqual([]);
		await page.getByRole("main").getByRole("link", { name: "1", exact: true }).first().click();
		await page.locator(".session-line", { hasText: "asked" }).waitFor();
		expect(page.url()).toContain("status=needs-you");
	});

	test("lists skills with the sessions that loaded them, and leads to the entry", async () => {
		await stage.say("skilled", "skill please");
		await page.goto("about:blank");
		await page.goto(`${stage.url}/#/usage`);
		await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Skills" }).click();
		await page.getByRole("heading", { name: "Skills", exact: true }).waitFor();
		const loads = page.getByRole("group", { name: "Loaded skills" });
		await loads.getByRole("link", { name: "skilled" }).waitFor();
		await picture(page, "skills");
		expect(await violationsOf(page)).toEqual([]);
		const skill = page.getByRole("group", { name: "Skills", exact: true }).getByRole("link").first();
		const name = await skill.innerText();
		await skill.click();
		await page.getByRole("heading", { name: `Sessions that loaded ${name}` }).waitFor();
		await loads.getByRole("link", { name: "skilled" }).click();
		await page.waitForURL(/#\/session\/skilled\/timeline\?entry=\d+$/);
	});

	test("asks for the price of models whose cost is unknown, with the configuration to write", async () => {
		await page.route("**/api/inspect/usage?**", async (route) => {
			const response = await route.fetch();
			const answer = await response.json();
			const unpriced = (each: { kind: string }) => (each.kind === "model" ? { ...each, unpriced: 2 } : each);
			await route.fulfill({ json: { ...answer, groups: answer.groups.map(unpriced) } });
		});
		await page.goto("about:blank");
		await page.goto(`${stage.url}/#/usage`);
		await page.getByText("The cost of clever-1 is unknown.").waitFor();
		await page.getByText('"clever-1": { input: 0, output: 0 },').waitFor();
		expect(await violationsOf(page)).toEqual([]);
	});

	test("shows new figures while sessions change all the time, and the last ones in the end", async () => {
		await page.unrouteAll({ behavior: "ignoreErrors" });
		await page.route("**/api/inspect/usage?**", async (route) => {
			const response = await route.fetch();
			// Slower than the changes.
			await new Promise((resolve) => setTimeout(resolve, 400));
			await route.fulfill({ response }).catch(() => {});
		});
		await page.goto("about:blank");
		await page.goto(`${stage.url}/#/usage`);
		const answers = () =>
			page
				.locator(".figure", { hasText: "answers" })
				.locator("dd")
				.textContent()
				.then((text) => Number((text ?? "").replace(/\D/g, "")));
		await expect.poll(answers).toBeGreaterThan(0);
		const first = await answers();
		let said = 0;
		let isOver = false;
		const talking = (async () => {
			for (; !isOver; said++) await stage.say("busy", "Hello");
		})();
		await expect.poll(answers).toBeGreaterThan(first);
		isOver = true;
		await talking;
		await expect.poll(answers).toBe(first + said);
	});
});
