// `useChat` of the AI SDK in a real browser: with the transport of the AI SDK, and with ours.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { half, story } from "./agent-process.fixture.ts";
import { openStage, type Stage, whyNot } from "./browser.fixture.ts";

let stage: Stage;
let chatId: string;
/** What went wrong in a page, beyond what it shows. */
const errors: string[] = [];

describe.skipIf(whyNot !== undefined)(`useChat in a page${whyNot ?? ""}`, () => {
	beforeAll(async () => {
		stage = await openStage("chat", "chat-page.fixture.ts");
	});
	beforeEach(async () => {
		errors.length = 0;
		chatId = crypto.randomUUID();
		await stage.start();
	});
	afterEach(() => expect(errors).toEqual([]));
	afterAll(() => stage?.close());

	async function open(transport: "default" | "holdfast"): Promise<Page> {
		const page = await stage.browser.newPage({ viewport: { width: 700, height: 700 } });
		page.setDefaultTimeout(60_000);
		page.on("pageerror", (error) => errors.push(error.message));
		await page.goto(`${stage.line.url}/chat?id=${chatId}&transport=${transport}`);
		return page;
	}

	async function say(page: Page, text: string): Promise<void> {
		await page.locator("input").fill(text);
		await page.locator("input").press("Enter");
	}

	const ready = (page: Page) => page.locator('[data-status="ready"]').waitFor();
	const lastOf = (page: Page) => page.locator("section").last();
	const says = (page: Page, text: string) => lastOf(page).getByText(text, { exact: true }).waitFor();
	const rolesOf = (page: Page) =>
		page.locator("section").evaluateAll((sections) => sections.map(({ className }) => className));

	async function shoot(page: Page, name: string): Promise<void> {
		const folder = process.env.HOLDFAST_SCREENSHOTS;
		if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
	}

	test.each(["default", "holdfast"] as const)(
		"with the %s transport a page that is reopened in the middle of an answer continues with it",
		async (transport) => {
			const page = await open(transport);
			await say(page, "Tell a story");
			await says(page, half);
			await page.reload();
			await says(page, half);
			expect(await rolesOf(page)).toEqual(["user", "assistant"]);
			stage.agent.go();
			await says(page, story);
			await ready(page);
			expect(await rolesOf(page)).toEqual(["user", "assistant"]);

			await say(page, "where am I?");
			await lastOf(page).getByText("I heard").waitFor();
			await ready(page);
			expect(await lastOf(page).locator("em").textContent()).toBe("A tool will know.");
			expect(await lastOf(page).locator("pre").textContent()).toBe(
				'tool-where: output-available {"page":"chat"}',
			);
			expect(await page.evaluate(() => window.toolCalls)).toBe(1);

			await say(page, "erase it");
			await lastOf(page).getByRole("button", { name: "Let it run" }).waitFor();
			// Also a page that is opened again asks.
			await page.reload();
			await lastOf(page).getByRole("button", { name: "Let it run" }).click();
			await lastOf(page).getByText("I heard").waitFor();
			await ready(page);
			expect(await lastOf(page).locator("pre").textContent()).toBe(
				'tool-erase: output-available {"erased":true}',
			);
			expect(await page.evaluate(() => window.toolCalls)).toBe(0);
			expect(await rolesOf(page)).toEqual(["user", "assistant", "user", "assistant", "user", "assistant"]);
			expect(await page.locator(".error").count()).toBe(0);
			await shoot(page, `chat-${transport}`);
			await page.close();
		},
	);

	test("with Holdfast's transport neither a broken connection nor a killed server is an error, and Stop stops the run", async () => {
		const page = await open("holdfast");
		await say(page, "Tell a story");
		await says(page, half);
		stage.line.cut();
		stage.agent.go();
		await says(page, story);
		await ready(page);
		expect(await page.locator(".error").count()).toBe(0);

		await say(page, "Once more");
		await says(page, half);
		await stage.agent.kill();
		await stage.start("never waits");
		// What the dead server's model had said is taken back, and streamed again.
		await says(page, story);
		await ready(page);
		expect(await lastOf(page).locator("p").count()).toBe(1);
		expect(await page.locator(".error").count()).toBe(0);
		await stage.start();

		await say(page, "And again");
		await says(page, half);
		await page.getByRole("button", { name: "Stop" }).click();
		await ready(page);
		const session = await fetch(`${stage.line.url}/api/agent/session/${chatId}`);
		const { status, messages } = (await session.json()) as { status: string; messages: { role: string }[] };
		expect(status).toBe("aborted");
		expect(messages.at(-1)?.role).toBe("aborted");
		await shoot(page, "chat-stopped");
		await page.close();
	});
});
