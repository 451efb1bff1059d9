// Takes screenshots of the inspector: a real server over a database with the support desk's sessions, in Chromium. The
// clock of the server and of the page is set, so only a changed page changes a picture.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@holdfast/client";
import { inspector } from "@holdfast/inspector";
import { listen } from "@holdfast/server";
import { sqliteHost } from "holdfast/sqlite";
import { chromium, type Page } from "playwright-core";
import { deskOptions } from "./desk-agent.ts";

/** The browser, as in the tests. */
export const chromiumPath: string = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";

/** The screenshots by their names in docs/images. */
export type Screenshots = ReadonlyMap<string, Buffer>;

const started = Date.UTC(2026, 2, 2, 9, 0, 0);

/** The conversations of the database: a session, what its user writes, and the answer to a call that needs approval. */
const conversations: readonly {
	readonly sessionId: string;
	readonly inputs: readonly string[];
	readonly answer?: { readonly approved: boolean; readonly reason?: string };
}[] = [
	{ sessionId: "mia-1840", inputs: ["Hello, something is wrong with my order.", "It is A-8. What was it?"] },
	{ sessionId: "noah-1841", inputs: ["Please refund B-3, it never came."] },
	{
		sessionId: "emma-1842",
		inputs: ["Please refund A-8, the lamp flickers."],
		answer: { approved: false, reason: "Send a new lamp instead." },
	},
	{ sessionId: "liam-1843", inputs: ["What did I pay for A-9?"] },
	{
		sessionId: "ava-1844",
		inputs: ["What is order A-9?", "Refund A-9, keys stick.", "Thank you. And A-7?"],
		answer: { approved: true },
	},
	{ sessionId: "leo-1845", inputs: ["Which orders can I return?"] },
	{ sessionId: "zoe-1846", inputs: ["Hello! I bought headphones, A-7.", "Refund A-7 please. They crackle."] },
];

/** Takes the screenshots. Needs Chromium. */
export async function screenshotInspector(): Promise<Screenshots> {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-inspector-"));
	const clocks = { date: Date.now, performance: performance.now };
	let time = started;
	Date.now = () => time;
	performance.now = () => time - started;
	const passes = (ms: number) => (): void => {
		time += ms;
	};
	const host = sqliteHost(join(folder, "desk.db"));
	const timing = { beforeReply: passes(1_340), beforeWord: passes(35), inTool: passes(180) };
	const server = await listen({ agent: deskOptions(timing), host, port: 0, ...inspector() });
	try {
		const client = createClient({ url: server.url });
		for (const { sessionId, inputs, answer } of conversations) {
			passes(260_000)();
			for (const input of inputs) {
				passes(21_000)();
				const stream = client.execute({ sessionId, input, context: {} });
				let toolCallId: string | undefined;
				for await (const event of stream)
					if (event.type === "execute_complete") toolCallId = event.pendingToolCalls?.[0]?.id;
				if (toolCallId === undefined || answer === undefined) continue;
				passes(48_000)();
				await client.answer(sessionId, [{ role: "approval", toolCallId, ...answer }]);
				for await (const _ of client.watch(sessionId));
			}
		}
		return await photograph(server.url, time + 12_000);
	} finally {
		Date.now = clocks.date;
		performance.now = clocks.performance;
		await server.close();
		await host.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

async function photograph(url: string, now: number): Promise<Screenshots> {
	const browser = await chromium.launch({
		executablePath: chromiumPath,
		args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
	});
	const pictures = new Map<string, Buffer>();
	try {
		const context = await browser.newContext({
			viewport: { width: 900, height: 560 },
			deviceScaleFactor: 1.4,
			colorScheme: "light",
			locale: "en-GB",
			timezoneId: "UTC",
			reducedMotion: "reduce",
		});
		await context.clock.setFixedTime(now);
		const page = await context.newPage();
		const take = async (name: string, path: string, text: string): Promise<void> => {
			await page.goto(`${url}/#/${path}`);
			await page.getByText(text).first().waitFor();
			await settled(page);
			pictures.set(`inspector-${name}.png`, await page.screenshot({ animations: "disabled", caret: "hide" }));
		};
		await take("sessions", "", "mia-1840");
		await take("approval", "session/zoe-1846/conversation", "Approve");
		await take("timeline", "session/ava-1844/timeline", "refund");
	} finally {
		await browser.close();
	}
	return pictures;
}

/** Waits until two pictures of the page in a row are the same. */
async function settled(page: Page): Promise<void> {
	let before: Buffer = Buffer.alloc(0);
	for (let attempt = 0; attempt < 20; attempt++) {
		await page.waitForTimeout(250);
		const after = await page.screenshot({ animations: "disabled", caret: "hide" });
		if (after.equals(before)) return;
		before = after;
	}
}
