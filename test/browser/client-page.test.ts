// @holdfast/client in a real browser, over connections that break and servers that are killed.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { half, story } from "./agent-process.fixture.ts";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";
import type { Seen } from "./client-page.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the client in a page${whyNot ?? ""}`, () => {
	let stage: Stage;
	let page: Page;
	let sessionId: string;

	beforeAll(async () => {
		stage = await openStage("client", "client-page.fixture.ts");
		page = await stage.browser.newPage({ viewport: { width: 700, height: 500 } });
		page.setDefaultTimeout(60_000);
	});
	beforeEach(async () => {
		sessionId = crypto.randomUUID();
		await stage.start();
		await page.goto(`${stage.line.url}/client`);
	});
	afterAll(() => stage?.close());

	/** Sends a message; gives what the page sees of it to its end. */
	function send(input: string): Promise<Seen> {
		return page.evaluate(([session = "", text = ""]) => window.send(session, text), [sessionId, input]);
	}

	/** Every event of the session that the server has, against those that the page has seen. */
	async function expectAllSeenOnce({ events }: Seen): Promise<void> {
		const response = await fetch(`${stage.line.url}/api/agent/session/${sessionId}/events`);
		const records = (await response.text()).split("\n\n").filter((record) => record.startsWith("id:"));
		const logged = records.map((record) => JSON.parse(record.slice(record.indexOf("data: ") + 6)));
		expect(events).toEqual(logged);
	}

	const lastText = () => page.locator("p").last();
	const says = (text: string) => page.getByText(text, { exact: true }).waitFor();

	test("an answer streams, its connection breaks in the middle, and every event is seen once", async () => {
		const sending = send("Tell a story");
		await says(half);
		stage.line.cut();
		await page.waitForFunction(() => window.reconnects > 0);
		stage.agent.go();
		const sent = await sending;
		expect(sent.result.status).toBe("completed");
		expect(await lastText().textContent()).toBe(story);
		await expectAllSeenOnce(sent);
	});

	test("a tool runs in the page", async () => {
		const sent = await send("where am I?");
		expect(sent.result.status).toBe("completed");
		expect(await lastText().textContent()).toContain('on the page \\"client\\"');
		await expectAllSeenOnce(sent);
	});

	test("a call waits until a user approves it", async () => {
		const sending = send("erase it");
		await page.getByRole("button", { name: "Let erase run" }).click();
		const sent = await sending;
		expect(sent.result.status).toBe("completed");
		expect(await page.locator("pre").last().textContent()).toBe('{"erased":true}');
		await expectAllSeenOnce(sent);
	});

	test("a server that is killed in the middle of an answer and restarted loses and repeats nothing", async () => {
		const sending = send("Tell it again");
		await says(half);
		await stage.agent.kill();
		await stage.start("never waits");
		const sent = await sending;
		expect(sent.result.status).toBe("completed");
		expect(await lastText().textContent()).toBe(story);
		await expectAllSeenOnce(sent);
		const screenshot = process.env.HOLDFAST_SCREENSHOTS;
		if (screenshot !== undefined) await page.screenshot({ path: `${screenshot}/client.png`, fullPage: true });
	});
});
