// The chat of the Next.js template as its user has it, in the system's Chromium.
import { chromium } from "playwright-core";
import { expect } from "vitest";

/** Asks, reloads, and approves a call. */
export async function useChatPage(url: string): Promise<void> {
	const browser = await chromium.launch({
		executablePath: process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
	});
	try {
		const page = await browser.newPage({ viewport: { width: 360, height: 720 } });
		page.setDefaultTimeout(120_000);
		const errors: string[] = [];
		page.on("pageerror", ({ message }) => errors.push(message));
		await page.goto(url);
		await page.waitForURL("**/chat/*");
		const send = async (text: string): Promise<void> => {
			await page.getByLabel("Message").fill(text);
			await page.getByRole("button", { name: "Send" }).click();
		};
		await send("What is 20 + 22?");
		await page.getByText("My tool says: 42").waitFor();
		await page.getByRole("button", { name: "Send" }).waitFor();
		await page.reload();
		await page.getByText("My tool says: 42").waitFor();
		await send("order a pizza");
		await page.getByRole("button", { name: "Yes" }).click();
		await page.getByText("My tool says: Ordered: a pizza").waitFor();
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
		if (process.env.SITE_SCREENSHOTS !== undefined)
			await page.screenshot({ path: `${process.env.SITE_SCREENSHOTS}/next-chat.png` });
		expect(errors).toEqual([]);
	} finally {
		await browser.close();
	}
}
