// The system's Chromium, a server that can be killed and restarted behind a fixed address, and the requirements for
// pages.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWay } from "@holdfast/testing/postgres-server";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { type InspectedOptions, type InspectedProcess, startInspected } from "./inspected-agent.fixture.ts";

const executablePath = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";

/** Why browser tests cannot run here; undefined if they can, or if they must. */
export const whyNot: string | undefined =
	existsSync(executablePath) || process.env.CI !== undefined
		? undefined
		: `: there is no Chromium at ${executablePath}; install the system's package "chromium", or name another in HOLDFAST_CHROMIUM`;

/** The environment of a browser test. */
export interface Stage {
	readonly url: string;
	/** The server that runs now. */
	readonly server: InspectedProcess;
	/** Kills the server and starts another over the same database. */
	restart(options?: Partial<InspectedOptions>): Promise<void>;
	/** The same, unless the server that runs was started with these options. */
	serve(options?: Partial<InspectedOptions>): Promise<void>;
	/** Opens a separate page; errors on it make `close` fail. */
	page(options?: { readonly width?: number; readonly colorScheme?: "light" | "dark" }): Promise<Page>;
	/** Sends a message to a session, and waits for the answer. */
	say(sessionId: string, input: string, key?: string): Promise<void>;
	close(): Promise<void>;
}

/** Sets a stage with a server. */
export async function openStage(options: Partial<InspectedOptions> = {}): Promise<Stage> {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-inspector-"));
	const db = join(folder, "sessions.db");
	// The address stays fixed while servers are replaced.
	const way = await openWay(() => server?.port);
	const url = `http://127.0.0.1:${way.port}`;
	const faults: string[] = [];
	let browser: Browser | undefined;
	let server: InspectedProcess | undefined;
	let started = "";
	const stage: Stage = {
		url,
		get server() {
			if (server === undefined) throw new Error("No server was started.");
			return server;
		},
		async restart(more = {}) {
			await server?.kill();
			way.cut();
			server = await startInspected({ db, ...options, ...more });
			started = JSON.stringify(more);
		},
		async serve(more = {}) {
			if (JSON.stringify(more) !== started) await stage.restart(more);
		},
		async page({ width = 1200, colorScheme = "light" } = {}) {
			browser ??= await chromium.launch({
				executablePath,
				args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
			});
			const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
			const page = await context.newPage();
			page.setDefaultTimeout(60_000);
			page.on("pageerror", (error) => faults.push(error.stack ?? error.message));
			return page;
		},
		async say(sessionId, input, key) {
			const response = await fetch(`${url}/api/agent/execute`, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					// A connection that is kept may be one to the server before, which was killed.
					connection: "close",
					...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
				},
				body: JSON.stringify({ sessionId, input, context: {} }),
			});
			const text = await response.text();
			if (!response.ok) throw new Error(text);
		},
		async close() {
			await browser?.close();
			await server?.kill();
			await way.close();
			rmSync(folder, { recursive: true, force: true });
			if (faults.length > 0) throw new Error(`The page failed:\n${faults.join("\n")}`);
		},
	};
	try {
		await stage.restart();
		return stage;
	} catch (error) {
		await stage.close();
		throw error;
	}
}

/** Returns the accessibility violations of a page, one line per kind. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
	// The page's policy lets no script in but its own; the browser's own door does.
	await page.evaluate(axe.source);
	return page.evaluate(async () => {
		const { violations } = await (
			globalThis as unknown as {
				axe: {
					run(): Promise<{
						violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
					}>;
				};
			}
		).axe.run();
		return violations.map(
			({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`,
		);
	});
}

/** Keeps a picture of the page where HOLDFAST_SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
	const folder = process.env.HOLDFAST_SCREENSHOTS;
	if (folder !== undefined) await page.screenshot({ path: `${folder}/inspector-${name}.png` });
}
