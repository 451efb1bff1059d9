// The trace in a real browser: the tree, the details of its nodes, and the panes of a wide page.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the trace of the inspector${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;

	beforeAll(async () => {
		stage = await openStage();
	});
	beforeEach(async () => {
		page = await stage.page({ width: 1440 });
	});
	afterEach(() => page?.context().close());
	afterAll(() => stage?.close());

	const show = (sessionId: string, tab: string) => page.goto(`${stage.url}/#/session/${sessionId}/${tab}`);
	const row = (text: string) => page.locator(".span", { hasText: text });

	test("shows the input of a call next to its output, and the stack of an error to operators", async () => {
		await stage.say("failing", "broken please");
		await show("failing", "timeline");
		await row("broken").filter({ hasText: "tool" }).locator(".span-main").click();
		const details = page.getByRole("region", { name: "Details of broken" });
		await details.getByLabel("Input of broken", { exact: true }).getByText('"this page"').waitFor();
		await details.getByLabel("Output of broken", { exact: true }).getByText("It is broken.").waitFor();
		await details.getByLabel("Stack", { exact: true }).getByText("inspected-agent.fixture").waitFor();
		await picture(page, "trace-call");
		expect(await violationsOf(page)).toEqual([]);
	});

	test("is a tree that collapses, opens sub-agents, and can be searched", async () => {
		await stage.say("nested", "ask the helper");
		await show("nested", "timeline");
		await page.getByRole("button", { name: "Contents of delegate_to_helper", expanded: false }).click();
		await expect.poll(() => row("Step 1").count()).toBe(2);
		await row("Run 1").nth(1).locator(".span-main").click();
		await page.getByRole("region", { name: "Details of Run 1" }).getByText("subagent").first().waitFor();
		await page.getByRole("button", { name: "Close steps" }).click();
		await row("scripted").first().waitFor({ state: "detached" });
		await page.getByRole("button", { name: "Open all" }).click();
		await page.getByLabel("Search the trace").fill("page 7");
		await row("Step 2").waitFor({ state: "detached" });
		await row("It is on page 7.").first().waitFor();
		await page.getByLabel("Search the trace").fill("");
		await page.keyboard.press("Escape");
		await page.keyboard.press("j");
		await page.locator(".span.is-selected").waitFor();
		expect(await violationsOf(page)).toEqual([]);
	});

	test("is next to the conversation on a wide page, and selecting a node shows its message", async () => {
		for (let turn = 0; turn < 12; turn++)
			await stage.say("beside", turn === 0 ? "add it up" : "Show the page");
		await show("beside", "conversation");
		await page.locator(".message-assistant", { hasText: "Refunds" }).first().waitFor();
		await page.getByLabel("Search the trace").fill("add");
		await row("add").filter({ hasText: "tool" }).locator(".span-main").click();
		await page.locator(".message.is-chosen .call", { hasText: "add" }).waitFor();
		await expect
			.poll(() =>
				page.locator(".message.is-chosen").evaluate((element) => element.getBoundingClientRect().top),
			)
			.toBeGreaterThan(0);
		await page.getByRole("region", { name: "Details of add" }).waitFor();
		await picture(page, "panes");
		expect(await violationsOf(page)).toEqual([]);
		await page.getByRole("button", { name: "Close details" }).click();
		await page.getByRole("region", { name: "Details of add" }).waitFor({ state: "detached" });
	});

	test("copies a run as a test case and as a command", async () => {
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await stage.say("copied", "add it up");
		await show("copied", "timeline");
		await row("Run 1").locator(".span-main").click();
		await page.getByRole("button", { name: "Copy the run as a test case" }).click();
		await expect
			.poll(() => page.evaluate(() => navigator.clipboard.readText()))
			.toContain('instructions: "You are the agent of a test.');
		await page.getByRole("button", { name: "Copy the run as curl" }).click();
		await expect
			.poll(() => page.evaluate(() => navigator.clipboard.readText()))
			.toBe(
				`curl -N ${stage.url}/api/agent/execute -H 'content-type: application/json' -d '{"input":"add it up"}'`,
			);
		// The page lists a long entry cut.
		const long = `add it up ${"and up ".repeat(6_000)}`.trim();
		await stage.say("copied-long", long);
		await show("copied-long", "timeline");
		await row("Run 1").locator(".span-main").click();
		await page.getByRole("button", { name: "Copy the run as curl" }).click();
		await expect
			.poll(() => page.evaluate(() => navigator.clipboard.readText()))
			.toContain(`-d '{"input":"${long}"}'`);
	});
});
