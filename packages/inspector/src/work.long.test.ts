// The views of workflows, scripts, skills, context and cache in a real browser.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the views of work${whyNot ?? ""}`, () => {
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

	async function show(sessionId: string, tab: string): Promise<void> {
		await page.goto(`${stage.url}/#/session/${sessionId}/${tab}`);
		await page.getByRole("tab", { selected: true }).waitFor();
	}

	test("a workflow shows its steps with attempts, what it waits for, its events, and what it undid", async () => {
		await stage.serve({ agent: "flow" });
		// It waits for an event, and so does the response.
		void stage.say("flow-one", "lamp").catch(() => {});
		await stage.say("flow-two", "broken");
		await show("flow-one", "conversation");
		await page.getByRole("tab", { name: "Workflow" }).click();
		const call = (name: string) => page.locator(".flow-call", { hasText: name });
		await call("courier").getByText("attempt 2").waitFor();
		await call("reply").getByText("waiting").waitFor();
		await call("reserve").getByRole("button").click();
		await page.getByLabel("Result of reserve", { exact: true }).getByText("lamp").waitFor();
		await picture(page, "workflow");
		expect(await violationsOf(page)).toEqual([]);
		await page.getByRole("button", { name: "Show in the trace" }).click();
		await page.locator(".span.is-selected").waitFor();
		await show("flow-two", "workflow");
		await call("undo reserve").getByText("done").waitFor();
		await page.locator(".notice.is-error", { hasText: "The box is broken." }).waitFor();
		await picture(page, "workflow-failed");
		await show("flow-one", "workflow");
		await page.setViewportSize({ width: 360, height: 800 });
		await call("reply").waitFor();
		expect(await violationsOf(page)).toEqual([]);
		await picture(page, "workflow-360");
	});

	test("a script is shown as code, with its result and the calls that it made", async () => {
		await stage.serve();
		await stage.say("scripted", "run the script");
		await show("scripted", "conversation");
		await page.locator(".timeline .span-tool", { hasText: "run_code" }).locator(".span-main").click();
		await page
			.locator(".details .code")
			.getByText(/Promise\.all/)
			.first()
			.waitFor();
		await page.getByLabel("Output of run_code").getByText("14").first().waitFor();
		await page.getByLabel("Output of run_code").getByText("found 2").waitFor();
		await page.getByRole("button", { name: "Contents of run_code" }).click();
		await expect.poll(() => page.locator(".timeline .span", { hasText: "price" }).count()).toBeGreaterThan(1);
		await picture(page, "script");
		expect(await violationsOf(page)).toEqual([]);
	});

	test("the context shows what fills it, what the cache gave, and the skills with hash and allowed tools", async () => {
		await stage.serve();
		await stage.say("skilled", "load the skill");
		await stage.say("skilled", "add it up");
		await show("skilled", "context");
		await page.getByText("tool results").waitFor();
		const skill = page.getByRole("row", { name: /tidy-up/ });
		await skill.getByText("add", { exact: true }).waitFor();
		await skill.locator("code").waitFor();
		await page.getByText("None: each request began like the one before it.").waitFor();
		await picture(page, "context");
		expect(await violationsOf(page)).toEqual([]);
		await page.setViewportSize({ width: 360, height: 800 });
		await page.emulateMedia({ colorScheme: "dark" });
		expect(await violationsOf(page)).toEqual([]);
		await picture(page, "context-360-dark");
	});

	test("a request says whether it is the one that was sent, and after a change of the agent that it is not", async () => {
		await stage.serve();
		await stage.say("verified", "add it up");
		await show("verified", "steps");
		await page.locator(".verdict", { hasText: "Verified." }).waitFor();
		await page.getByRole("button", { name: "Copy the request as curl" }).waitFor();
		await picture(page, "verified");
		expect(await violationsOf(page)).toEqual([]);
		await page.route("**/api/inspect/session/verified/steps/*", async (route) => {
			const response = await route.fetch();
			const step = await response.json();
			await route.fulfill({ json: { ...step, parts: { ...step.parts, tools: "differs" } } });
		});
		await page.reload();
		await page.locator(".verdict", { hasText: "Not as sent: other tools than shown." }).waitFor();
		expect(await violationsOf(page)).toEqual([]);
	});

	test("a request is tried with another model and instructions, a tool with an input, and the session stays as it was", async () => {
		await stage.serve();
		await stage.say("tried", "Hello");
		await show("tried", "steps");
		await page.getByRole("link", { name: "Try it in the playground" }).click();
		await page.getByLabel("Model").fill("wise-2");
		await page.getByLabel("Instructions").fill("Be wise.");
		await page.getByRole("button", { name: "Call the model" }).click();
		await page.getByRole("heading", { name: "Now" }).waitFor();
		await page.locator(".figure", { hasText: "wise-2" }).waitFor();
		await page.getByRole("region", { name: "Try a tool" }).getByRole("combobox").first().selectOption("pay");
		const run = page.getByRole("button", { name: "Run pay" });
		await page.getByLabel("order").fill("A-7");
		await page.getByLabel("amount").fill("12");
		expect(await run.isDisabled()).toBe(true);
		await page.getByLabel("Run it with its real effects").check();
		await picture(page, "playground");
		await run.click();
		await page.getByLabel("Result of pay", { exact: true }).getByText("12").waitFor();
		expect(await run.isDisabled()).toBe(true);
		expect(await violationsOf(page)).toEqual([]);
		await page.setViewportSize({ width: 360, height: 800 });
		await page.emulateMedia({ colorScheme: "dark" });
		expect(await violationsOf(page)).toEqual([]);
		await picture(page, "playground-360-dark");
		await page.getByRole("tab", { name: "Conversation" }).click();
		await expect.poll(() => page.locator(".message").count()).toBe(2);
	});
});
