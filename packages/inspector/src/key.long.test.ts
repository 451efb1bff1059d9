// The page behind a key: it asks for one, reports a rejected key, and ignores late responses for an older one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage, violationsOf, whyNot } from "./browser.fixture.ts";

const good = "the-good-key";

describe.skipIf(whyNot !== undefined)(`the inspector behind a key${whyNot ?? ""}`, () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage({ apiKeys: { [good]: "acme", "another-key": "other" } });
		await stage.say("mine", "add it", good);
		await stage.say("theirs", "add it", "another-key");
	});
	afterAll(() => stage?.close());

	test("asks for a key, reports a rejected one, and shows what the right one may see", async () => {
		const page = await stage.page();
		await page.goto(stage.url);
		const field = page.getByLabel("Server key");
		await field.waitFor();
		expect(await page.getByText("The server rejected this key.").count()).toBe(0);
		await field.fill("a-wrong-key");
		await page.getByRole("button", { name: "Enter" }).click();
		await page.getByText("The server rejected this key.").waitFor();
		expect(await violationsOf(page)).toEqual([]);
		await page.getByLabel("Server key").fill(good);
		await page.getByRole("button", { name: "Enter" }).click();
		await page.locator(".session-line", { hasText: "mine" }).waitFor();
		expect(await page.locator(".session-line").count()).toBe(1);
		await page.reload();
		await page.locator(".session-line", { hasText: "mine" }).waitFor();
		await page.locator(".session-line", { hasText: "mine" }).click();
		await page.locator(".message-assistant").first().waitFor();
		await page.close();
	});

	test("a late rejection of an older key is ignored", async () => {
		const page = await stage.page();
		let late: (() => Promise<void>) | undefined;
		// The list's response for the wrong key arrives only when the right key is in use.
		await page.route("**/api/inspect/**", async (route) => {
			const request = route.request();
			if (request.headers().authorization !== "Bearer a-wrong-key") return route.continue();
			const response = await route.fetch();
			const answer = (): Promise<void> => route.fulfill({ response });
			if (!request.url().includes("/changes")) return answer();
			late = answer;
		});
		await page.goto(`${stage.url}/#/session/mine`);
		await page.getByLabel("Server key").fill("a-wrong-key");
		await page.getByRole("button", { name: "Enter" }).click();
		await page.getByText("The server rejected this key.").waitFor();
		await expect.poll(() => late !== undefined).toBe(true);
		await page.getByLabel("Server key").fill(good);
		await page.getByRole("button", { name: "Enter" }).click();
		await page.locator(".message-assistant").first().waitFor();
		await late?.().catch(() => {}); // the page may have given it up
		await page.getByRole("link", { name: "Sessions" }).click();
		await page.locator(".session-line", { hasText: "mine" }).waitFor();
		expect(await page.getByText("The server rejected this key.").count()).toBe(0);
		await page.close();
	});
});
