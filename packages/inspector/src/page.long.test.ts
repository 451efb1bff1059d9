// The page in a real browser, against a real server. Each test has a separate page and sessions.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openStage, picture, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";
import { half, secret, story } from "./inspected-agent.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the inspector${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;

	beforeAll(async () => {
		stage = await openStage();
	});
	beforeEach(async () => {
		await stage.serve();
		page = await stage.page();
	});
	afterEach(() => page?.context().close());
	afterAll(() => stage?.close());

	/** Shows a session. */
	async function show(sessionId: string, tab = "conversation"): Promise<void> {
		await page.goto(`${stage.url}/#/session/${sessionId}/${tab}`);
		await page.getByRole("tab", { selected: true }).waitFor();
	}

	const status = (of: string) => page.locator(".session-head .status", { hasText: of }).waitFor();

	test("lists sessions as they arrive, with their status and numbers, and finds them by words and status", async () => {
		await stage.say("first", "add it up");
		await page.goto(stage.url);
		const line = (id: string) => page.locator(".session-line", { hasText: id });
		await line("first").getByText("completed").waitFor();
		await line("first").getByRole("cell", { name: "30", exact: true }).waitFor();
		await stage.say("second", "fail now");
		await line("second").getByText("failed", { exact: true }).waitFor();
		await stage.say("third", "erase all");
		await line("third").getByText("waiting").waitFor();
		await page.getByLabel("Search sessions").fill("FAIL");
		await line("first").waitFor({ state: "detached" });
		await line("second").waitFor();
		await page.getByLabel("Search sessions").fill("");
		await page.getByLabel("Status").selectOption("waiting");
		await line("second").waitFor({ state: "detached" });
		await line("third").waitFor();
		await page.getByLabel("Status").selectOption("any");
		await line("first").waitFor();
		await picture(page, "list");
		expect(await violationsOf(page)).toEqual([]);
	});

	test("keeps filters, order and saved views across a reload, and shows why a run failed", async () => {
		await stage.say("sorted-one", "add it up");
		await stage.say("sorted-two", "fail now");
		await page.goto(stage.url);
		const line = (id: string) => page.locator(".session-line", { hasText: id });
		await page.getByLabel("Search sessions").fill("sorted");
		await line("sorted-two").getByText("run_failed: The provider is on fire.").waitFor();
		const first = () => page.locator(".session-line").first().textContent();
		const tokens = page.getByRole("columnheader", { name: "Tokens" });
		await tokens.getByRole("button").click();
		await expect.poll(first).toContain("sorted-one");
		await tokens.getByRole("button").click();
		await expect.poll(first).toContain("sorted-two");
		expect(await tokens.getAttribute("aria-sort")).toBe("ascending");
		await page.getByRole("button", { name: "Save this view…" }).click();
		await page.getByLabel("Name of the view").fill("Cheap first");
		await page.keyboard.press("Enter");
		await page.reload();
		await page.getByRole("button", { name: "Cheap first", exact: true, pressed: true }).waitFor();
		await expect.poll(first).toContain("sorted-two");
		await page.getByRole("button", { name: "Failed" }).click();
		await line("sorted-two").waitFor();
		await page.getByRole("button", { name: "Cheap first", exact: true }).click();
		await line("sorted-one").waitFor();
		expect(page.url()).toContain("sort=tokens");
		await page.getByRole("button", { name: "Remove the view Cheap first" }).click();
		await page.getByRole("button", { name: "Save this view…" }).waitFor();
	});

	test("finds sessions by the tool that they called", async () => {
		await stage.say("tooled", "add it up");
		await stage.say("untooled", "Hello");
		await page.goto(stage.url);
		await page.getByLabel("Tool", { exact: true }).selectOption("add");
		await page.locator(".session-line", { hasText: "untooled" }).waitFor({ state: "detached" });
		await page.locator(".session-line", { hasText: "tooled" }).first().waitFor();
	});

	test("lines keep their places under the pointer while sessions arrive", async () => {
		await stage.say("still-one", "One");
		await stage.say("still-two", "Two");
		await page.goto(`${stage.url}/#/?q=still`);
		const lines = () => page.locator(".session-line .session-id").allTextContents();
		await expect.poll(lines).toEqual(["still-two", "still-one"]);
		await page.locator(".session-line").first().hover();
		await stage.say("still-one", "Again");
		await stage.say("still-three", "Three");
		await page.getByRole("button", { name: "Show 1 new" }).waitFor();
		expect(await lines()).toEqual(["still-two", "still-one"]);
		await page.getByRole("button", { name: "Show 1 new" }).click();
		await expect.poll(lines).toEqual(["still-three", "still-one", "still-two"]);
	});

	test("shows since when the server is unavailable, retries on request, and keeps typed text", async () => {
		await stage.say("kept", "One");
		await show("kept");
		await page.getByLabel("Message", { exact: true }).fill("Not sent yet");
		await stage.server.kill();
		await page
			.getByRole("alert")
			.getByText(/Cannot reach the server at .* since \d\d:/)
			.waitFor();
		await page.getByRole("button", { name: "Send" }).click();
		await page.locator(".notice.is-error").nth(1).waitFor();
		await picture(page, "away");
		expect(await violationsOf(page)).toEqual([]);
		expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("Not sent yet");
		await stage.restart();
		await page
			.getByRole("button", { name: "Retry now" })
			.click({ timeout: 2_000 })
			.catch(() => {});
		await page.getByRole("alert").waitFor({ state: "detached" });
		await page.reload();
		await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe("Not sent yet");
	});

	test("shows an answer while it streams, and completely afterwards, across a kill of the server", async () => {
		await stage.serve({ waits: true });
		await page.goto(stage.url);
		await page.getByLabel("Message of a new session").fill("Tell a story");
		await page.getByRole("button", { name: "Start" }).click();
		await page.locator(".is-live", { hasText: half }).waitFor();
		expect(await page.locator(".conversation").textContent()).not.toContain("twelve");
		await status("running");
		await stage.serve();
		await page.locator(".message-assistant .text", { hasText: story }).first().waitFor();
		await status("completed");
		await page.locator(".is-live").waitFor({ state: "detached" });
		await expect.poll(() => page.locator(".message-assistant", { hasText: story }).count()).toBe(1);
		expect(await page.locator(".message-user").count()).toBe(1);
		await page.getByRole("tab", { name: "Trace" }).click();
		await page.locator(".span-takeover").waitFor();
		await picture(page, "takeover");
	});

	test("a call waits above the message until a user approves it, denies it, or answers it", async () => {
		await stage.say("approved", "erase all");
		await show("approved");
		await page.getByRole("group", { name: /erase requires approval/ }).waitFor();
		await picture(page, "approval");
		await page.getByRole("button", { name: "Approve" }).click();
		await status("completed");
		await page.getByText('"erased":true').first().waitFor();
		await stage.say("denied", "erase it");
		await show("denied");
		await page.getByLabel("Reason for erase").fill("Not today.");
		await page.getByRole("button", { name: "Deny" }).click();
		await page.locator(".message-assistant .text", { hasText: "Not today." }).first().waitFor();
		await stage.say("answered", "where am I?");
		await show("answered");
		await page.getByLabel("Result of where").fill("In Rome.");
		await page.getByRole("button", { name: "Answer", exact: true }).click();
		await page.locator(".message-assistant .text", { hasText: "In Rome." }).first().waitFor();
		await page.locator(".pending").waitFor({ state: "detached" });
	});

	test("approves a call with a changed argument, and rejects arguments that do not fit the schema", async () => {
		await stage.say("edited", "pay it back");
		await show("edited");
		await page.getByLabel("amount").fill("twelve");
		await page.getByText("amount must be a number.").waitFor();
		expect(await page.getByRole("button", { name: "Approve with changes" }).isDisabled()).toBe(true);
		await page.getByLabel("amount").fill("12.5");
		await page.reload();
		await expect.poll(() => page.getByLabel("amount").inputValue()).toBe("12.5");
		await page.getByLabel("reason optional").selectOption("broken");
		await picture(page, "approve-with-changes");
		expect(await violationsOf(page)).toEqual([]);
		await page.getByRole("button", { name: "Approve with changes" }).click();
		await status("completed");
		await page
			.locator(".message-assistant .text", { hasText: /paid\W+12.5/ })
			.first()
			.waitFor();
	});

	test("answers a remote tool with JSON, which is checked first", async () => {
		await stage.say("typed", "where am I?");
		await show("typed");
		await page.getByLabel("Format for where").selectOption("json");
		await page.getByLabel("Result of where").fill("{city");
		await page.getByText(/This is not valid JSON/).waitFor();
		expect(await page.getByRole("button", { name: "Answer", exact: true }).isDisabled()).toBe(true);
		await page.getByLabel("Result of where").fill('{"city":"Rome"}');
		await page.getByRole("button", { name: "Answer", exact: true }).click();
		await page.locator(".message-assistant .text", { hasText: "Rome" }).first().waitFor();
	});

	test("renders Markdown, and shows what could run or load something as text", async () => {
		const asked: string[] = [];
		page.on("request", (request) => asked.push(request.url()));
		await stage.say("marked", "Show the page");
		await show("marked");
		await page.getByRole("cell", { name: "lamp" }).waitFor();
		await page.locator(".hljs-keyword", { hasText: "const" }).waitFor();
		await page.getByRole("link", { name: "the policy" }).waitFor();
		const paragraph = (hasText: string) => page.locator(".markdown p", { hasText }).waitFor();
		await paragraph('<img src="x" onerror="window.hacked=1">');
		await paragraph("[a trap](javascript:hacked=1)");
		expect(await page.getByRole("link", { name: "a trap" }).count()).toBe(0);
		const image = page.getByRole("link", { name: "Image: a & b" });
		expect(await image.getAttribute("href")).toBe("https://example.com/b.png");
		await paragraph("after <kbd>Esc</kbd>");
		expect(await page.locator(".markdown p br").count()).toBe(1);
		expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
		expect(asked.filter((url) => !url.startsWith(stage.url))).toEqual([]);
		await picture(page, "markdown");
		expect(await violationsOf(page)).toEqual([]);
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await page.getByRole("button", { name: "Copy: Code" }).click();
		await page.getByText("Copied").waitFor();
		expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("const total = 49; // dollars");
	});

	test("repeats a failed run, and forks from the turn that failed", async () => {
		await stage.say("retried", "Hello");
		await stage.say("retried", "fail now");
		await show("retried");
		await page.getByRole("button", { name: "Retry", exact: true }).click();
		await expect.poll(() => page.locator(".message-error").count()).toBe(2);
		await page.getByRole("button", { name: "Retry in a fork…" }).click();
		await page.getByRole("dialog", { name: "Fork the session" }).waitFor();
		expect(await page.getByLabel(/Repeat turn 3: fail now/).isChecked()).toBe(true);
		await page.getByLabel("Instructions").fill("Never fail.");
		await page.getByRole("button", { name: "Fork", exact: true }).click();
		await page.getByText("forked from").waitFor();
		await expect.poll(() => page.locator(".message-user").count()).toBe(3);
	});

	test("shows a sub-agent's work inside its call, linked both ways", async () => {
		await stage.say("inside", "ask the helper");
		await show("inside");
		await page.locator(".call summary", { hasText: "delegate_to_helper" }).click();
		const inner = page.getByRole("region", { name: "What helper did" });
		await inner.locator(".message-assistant", { hasText: "It is on page 7." }).waitFor();
		await inner.getByRole("link", { name: "Open the session of helper" }).click();
		await page.getByRole("link", { name: "back to the session" }).click();
		await page.locator(".call summary", { hasText: "delegate_to_helper" }).waitFor();
	});

	test("sends, steers the active run, and interrupts it", async () => {
		await stage.serve({ waits: true });
		await stage.say("steered", "Hello");
		await show("steered");
		await page.getByLabel("Message", { exact: true }).fill("Tell a story");
		await page.keyboard.press("Control+Enter");
		await page.locator(".is-live", { hasText: half }).waitFor();
		await page.getByLabel("Message", { exact: true }).fill("And be quick");
		await page.getByRole("button", { name: "Steer" }).click();
		await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe("");
		stage.server.go();
		await page.locator(".message-user", { hasText: "And be quick" }).waitFor();
		await status("completed");
		await page.getByLabel("Message", { exact: true }).fill("Another story");
		await page.getByRole("button", { name: "Send" }).click();
		await page.locator(".is-live", { hasText: half }).waitFor();
		await page.getByRole("button", { name: "Interrupt" }).click();
		await status("stopped");
		await page.locator(".message-error", { hasText: "interrupted" }).waitFor();
	});

	test("a parked run is released", async () => {
		await stage.serve({ parks: true });
		await stage.say("parked", "park here").catch(() => {});
		await stage.restart({ parks: true });
		await show("parked");
		await status("parked");
		await stage.serve({ unparks: true });
		await page.getByRole("button", { name: "Release" }).click();
		await status("completed");
		await page.getByRole("tab", { name: "Trace" }).click();
		await page.getByText("released").first().waitFor();
	});

	test("forks a session before a turn, runs it again with another model and other instructions, and compares the two", async () => {
		await stage.say("forked", "One");
		await stage.say("forked", "Two");
		await show("forked");
		await page.locator(".message-user", { hasText: "Two" }).waitFor();
		await page.getByRole("button", { name: "Fork…" }).click();
		await page.getByLabel("Starts with the whole conversation").selectOption({ label: "up to turn 1: One" });
		await page.getByLabel(/Repeat turn 2/).check();
		await page.getByLabel("Model").fill("wise-2");
		await page.getByLabel("Instructions").fill("Be wise.");
		await picture(page, "fork");
		expect(await violationsOf(page)).toEqual([]);
		await page.getByRole("button", { name: "Fork", exact: true }).click();
		await page.locator(".message-assistant", { hasText: "wise-2" }).first().waitFor();
		await page.getByText("forked from").waitFor();
		await expect.poll(() => page.locator(".message-user").count()).toBe(2);
		await show("forked", "tree");
		await page.getByRole("link", { name: "compare" }).click();
		await page.getByRole("heading", { name: "Comparison" }).waitFor();
		await page.getByRole("cell", { name: "another" }).waitFor();
		await picture(page, "compare");
		expect(await violationsOf(page)).toEqual([]);
		await page.locator(".compare-head select").selectOption("answers");
		await page.getByText("Both answers are the same.").waitFor();
		expect(await violationsOf(page)).toEqual([]);
	});

	test("shows requests and replies with credentials masked", async () => {
		await stage.say("masked", "the secret please");
		await show("masked", "steps");
		await page.getByLabel("Reply").getByText("REDACTED").waitFor();
		await page.getByLabel("Request").getByText("You are the agent of a test.").waitFor();
		expect(await page.content()).not.toContain(secret);
		await picture(page, "steps");
	});

	test("replays a session step by step", async () => {
		await stage.say("replayed", "add it up");
		await show("replayed", "replay");
		await page.getByText("1 of 7: run.started").waitFor();
		await page.keyboard.press("]");
		await page.getByText("2 of 7: input").waitFor();
		await page.keyboard.press("]");
		await page.getByText("3 of 7: assistant").waitFor();
		await expect.poll(() => page.locator(".conversation .message").count()).toBe(2);
		await page.keyboard.press("[");
		await page.getByText("2 of 7: input").waitFor();
		await expect.poll(() => page.locator(".conversation .message").count()).toBe(1);
	});

	test("shows sub-agents in the tree, and their work", async () => {
		await stage.say("helped", "ask the helper");
		await show("helped", "tree");
		await page.getByRole("link", { name: "helper" }).click();
		await page.locator(".message-assistant", { hasText: "It is on page 7." }).first().waitFor();
	});

	test("every view is free of violations, in light and dark, and fits into 360 pixels", async () => {
		await stage.say("viewed", "add it up");
		await stage.say("compared", "One");
		const dark = await stage.page({ width: 360, colorScheme: "dark" });
		const views = ["", "usage", "compare/viewed/compared", ...tabs.map((tab) => `session/viewed/${tab}`)];
		for (const shown of [page, dark]) {
			for (const view of views) {
				await shown.goto(`${stage.url}/#/${view}`);
				await shown.locator("main").waitFor();
				await shown.getByText("Reading…").waitFor({ state: "detached" });
				await picture(shown, `${shown === dark ? "dark" : "light"}-${view.replaceAll("/", "-")}`);
				expect(await violationsOf(shown), view).toEqual([]);
				const wide = await shown.evaluate(() => document.documentElement.scrollWidth - innerWidth);
				expect(wide, `${view} is wider than the window`).toBeLessThanOrEqual(0);
			}
		}
	});

	test("everything is reachable with the keyboard", async () => {
		await stage.say("hidden", "One");
		await stage.say("found", "One");
		const focused = () => page.evaluate(() => document.activeElement?.id);
		await page.goto(stage.url);
		await page.locator(".session-line").first().waitFor();
		await page.keyboard.press("/");
		await expect.poll(focused).toBe("search");
		await page.keyboard.type("found");
		await page.locator(".session-line", { hasText: "hidden" }).waitFor({ state: "detached" });
		await page.keyboard.press("Escape");
		await page.keyboard.press("j");
		await page.keyboard.press("Enter");
		await page.getByRole("tab", { name: "Conversation", selected: true }).waitFor();
		await page.keyboard.press("2");
		await page.getByRole("tab", { name: "Trace", selected: true }).waitFor();
		await page.locator(".span").first().waitFor();
		await page.keyboard.press("j");
		await page.getByRole("heading", { name: "Run 1" }).waitFor();
		await page.getByRole("tab", { selected: true }).focus();
		await page.keyboard.press("ArrowRight");
		await page.getByRole("tab", { name: "Requests", selected: true }).waitFor();
		await page.keyboard.press("?");
		await page.getByRole("dialog", { name: "Keys" }).waitFor();
		await page.keyboard.press("Escape");
		await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
		await page.keyboard.press("c");
		await expect.poll(focused).toBe("composer");
		await page.keyboard.press("Escape");
		await page.keyboard.press("g");
		await page.getByLabel("Search sessions").waitFor();
	});
});

const tabs = ["conversation", "timeline", "steps", "tree", "plan", "charts", "replay"];
