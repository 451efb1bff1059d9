// The site as a reader has it: built by `npm run docs`, served as files, looked at in Chromium. It asks nobody but its own
// server for anything.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const dist = join(import.meta.dirname, "../../.site/dist");
const executablePath = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";
/** Where screenshots are left, for somebody to look at. */
const screenshots = process.env.SITE_SCREENSHOTS;
const types: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript",
	".css": "text/css",
	".svg": "image/svg+xml",
	".woff2": "font/woff2",
};

let server: Server;
let browser: Browser;
let url: string;
/** Requests to others, and errors of the page. */
const problems: string[] = [];

beforeAll(async () => {
	if (!existsSync(join(dist, "index.html"))) throw new Error("Run npm run docs: there is no .site/dist.");
	server = createServer(({ url: asked = "/" }, response) => {
		const path = decodeURIComponent(new URL(asked, "http://site").pathname);
		const file = [path, `${path}.html`, join(path, "index.html")]
			.map((each) => join(dist, each))
			.find((each) => existsSync(each) && statSync(each).isFile());
		if (file === undefined) return response.writeHead(404).end();
		response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
		response.end(readFileSync(file));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
	browser = await chromium.launch({ executablePath, args });
});

afterAll(async () => {
	await browser?.close();
	server?.closeAllConnections();
	await new Promise((resolve) => server?.close(resolve));
});

afterEach(() => {
	expect(problems.splice(0)).toEqual([]);
});

interface Look {
	readonly width?: number;
	readonly colorScheme?: "light" | "dark";
}

async function open(path: string, { width = 1280, colorScheme = "light" }: Look = {}): Promise<Page> {
	const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
	const page = await context.newPage();
	page.setDefaultTimeout(120_000);
	page.on("pageerror", (error) => problems.push(`${path}: ${error.message}`));
	await page.route("**/*", async (route) => {
		const asked = route.request().url();
		if (asked.startsWith(url) || asked.startsWith("data:")) return route.continue();
		problems.push(`${path} asks for ${asked}`);
		return route.abort();
	});
	const answer = await page.goto(url + path);
	expect([path, answer?.status()]).toEqual([path, 200]);
	if (screenshots !== undefined)
		await page.screenshot({
			path: join(screenshots, `${path.replaceAll("/", "-")}.${width}.${colorScheme}.png`),
		});
	return page;
}

/** Opens the search; what is done before the page is alive is not heard. */
async function openSearch(page: Page, opens: () => Promise<unknown>): Promise<void> {
	const input = page.locator("#localsearch-input");
	await expect
		.poll(
			async () => {
				await opens();
				return input.waitFor({ timeout: 2_000 }).then(
					() => true,
					() => false,
				);
			},
			{ timeout: 120_000 },
		)
		.toBe(true);
}

test("the search finds a page by words of its text, with nobody to ask but its own server", async () => {
	const page = await open("/");
	await openSearch(page, () => page.locator("#local-search button").first().click());
	await page.locator("#localsearch-input").fill("idempotency key");
	const first = page.locator("#localsearch-list a").first();
	await first.waitFor();
	expect(await page.locator("#localsearch-list a").count()).toBeGreaterThan(3);
	if (screenshots !== undefined) await page.screenshot({ path: join(screenshots, "search.png") });
	const target = await first.getAttribute("href");
	await first.click();
	await page.waitForURL((there) => there.pathname !== "/");
	expect(new URL(page.url()).pathname).toBe(new URL(target ?? "", url).pathname);
	await page.locator(".vp-doc h1").waitFor();
	expect((await page.locator(".vp-doc").innerText()).toLowerCase()).toContain("idempotency");
	await page.context().close();
});

test("the search finds a name of the reference", async () => {
	const page = await open("/tutorial");
	await openSearch(page, () => page.keyboard.press("Control+k"));
	await page.locator("#localsearch-input").fill("sqliteHost");
	await page.locator('#localsearch-list a[href*="/api/holdfast-sqlite"]').first().waitFor();
	await page.context().close();
});

const pages = [
	"/",
	"/tutorial",
	"/which-call",
	"/guide/serving",
	"/cookbook/",
	"/cookbook/slack",
	"/migrate/ai-sdk",
	"/api/",
	"/api/holdfast",
	"/errors",
];

describe.each(pages)("%s", (path) => {
	test.each(["light", "dark"] as const)("fits a window of 360 pixels, %s", async (colorScheme) => {
		const page = await open(path, { width: 360, colorScheme });
		await page.locator(path === "/" ? ".VPHero" : ".vp-doc h1").waitFor();
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
		const isDark = await page.evaluate(() => document.documentElement.classList.contains("dark"));
		expect(isDark).toBe(colorScheme === "dark");
		await page.context().close();
	});
});

test("every name of the main entry has its heading, and links inside a page lead to one", async () => {
	const page = await open("/api/holdfast");
	for (const name of ["agent", "Agent", "AgentState", "memoryHost"])
		expect([name, await page.locator(`h2[id="${name}"]`).count()]).toEqual([name, 1]);
	if (screenshots !== undefined) {
		await open("/tutorial", { colorScheme: "dark" });
		await open("/guide/sessions");
	}
	await page.context().close();
});
