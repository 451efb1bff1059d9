// The example of a web chat, in a browser: a page that is reloaded in the middle of an answer, and whose server is replaced there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundlePage, startChat } from "../../examples/web-chat/server.ts";
import { launchBrowser, whyNot } from "./browser.fixture.ts";
import { openLine } from "./line.fixture.ts";

describe.skipIf(whyNot !== undefined)(`the web chat${whyNot ?? ""}`, () => {
	let page: string;
	let folder: string;

	beforeAll(async () => {
		folder = mkdtempSync(join(tmpdir(), "holdfast-chat-"));
		page = await bundlePage();
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));

	test("continues an answer after a reload and on another server", async () => {
		let go = (): void => {};
		const gate = new Promise<void>((resolve) => {
			go = resolve;
		});
		const beforeWord = (at: number): unknown => (at === 6 ? gate : undefined);
		const options = { db: join(folder, "chat.db"), page };
		let server = await startChat({ ...options, port: 0, beforeWord });
		const line = await openLine();
		line.lead(server.port);
		const browser = await launchBrowser();
		try {
			const tab = await browser.newPage();
			tab.setDefaultTimeout(60_000);
			await tab.goto(line.url);
			await tab.getByLabel("Message").fill("hello");
			await tab.getByRole("button", { name: "Send" }).click();
			await tab.locator(".assistant", { hasText: "You said “hello”" }).waitFor();
			await tab.reload();
			await tab.locator(".assistant", { hasText: "You said “hello”" }).waitFor();
			await server.close({ drainMs: 0 });
			go();
			server = await startChat({ ...options, port: 0, beforeWord: () => {} });
			line.lead(server.port);
			await tab.locator(".assistant", { hasText: "cut off in its middle." }).waitFor();
			await tab.locator('[data-status="ready"]').waitFor();
			expect(await tab.locator("p").allTextContents()).toEqual([
				"hello",
				"You said “hello”, and this is a long answer, word by word, to be cut off in its middle.",
			]);
		} finally {
			await browser.close();
			await server.close({ drainMs: 0 });
			await line.close();
		}
	});
});
