// The system's Chromium, and the pages of the tests bundled for it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { build, type Rolldown } from "vite";
import { type AgentProcess, startAgent } from "./agent-process.fixture.ts";
import { type Line, openLine } from "./line.fixture.ts";

const executablePath = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";

/** Why the tests in a browser cannot run here; undefined where they can, or where they must. */
export const whyNot: string | undefined =
	existsSync(executablePath) || process.env.CI !== undefined
		? undefined
		: `: there is no Chromium at ${executablePath}; install the system's package "chromium", or name another in HOLDFAST_CHROMIUM`;

/** Starts the browser; who asks closes it. */
export function launchBrowser(): Promise<Browser> {
	return chromium.launch({
		executablePath,
		args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
	});
}

/** Bundles a page as users do, by vite; gives its script. */
async function bundle(source: string): Promise<string> {
	const built = await build({
		configFile: false,
		root: import.meta.dirname,
		logLevel: "error",
		define: { "process.env.NODE_ENV": '"production"' },
		resolve: { conditions: ["holdfast-source", "browser", "module", "import", "default"] },
		build: {
			write: false,
			lib: { entry: join(import.meta.dirname, source), formats: ["es"] },
		},
	});
	const [first] = (Array.isArray(built) ? built : [built]) as readonly Rolldown.RolldownOutput[];
	const code = first?.output[0].code;
	if (code === undefined) throw new Error(`${source} has no bundle.`);
	return code;
}

/** What a test in a browser needs. */
export interface Stage {
	readonly browser: Browser;
	readonly line: Line;
	/** The server that runs now. */
	readonly agent: AgentProcess;
	/** Starts a server over the same database in place of the one before, and leads the line to it. */
	start(waits?: "waits" | "never waits"): Promise<void>;
	close(): Promise<void>;
}

/** Sets a stage for a page, still without a server. */
export async function openStage(name: string, source: string): Promise<Stage> {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-browser-"));
	const [script, line, browser] = await Promise.all([bundle(source), openLine(), launchBrowser()]);
	const file = join(folder, "page.js");
	writeFileSync(file, script);
	let agent: AgentProcess | undefined;
	return {
		browser,
		line,
		get agent() {
			if (agent === undefined) throw new Error("No server was started.");
			return agent;
		},
		async start(waits: "waits" | "never waits" = "waits") {
			await agent?.kill();
			agent = await startAgent(join(folder, "sessions.db"), { [name]: file }, waits);
			line.lead(agent.port);
		},
		async close() {
			await browser.close();
			await agent?.kill();
			await line.close();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
