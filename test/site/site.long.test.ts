// The site as a reader has it: built by `npm run docs`, served as files, looked at in Chromium. It asks nobody but its own
// server for anything.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { listFiles } from "../../tools/list-sources.ts";

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
	".png": "image/png",
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

test("the search finds a page by words of its text, with requests only to its own server", async () => {
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
	"/api/holdfast/agent",
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

test("an entry point of the reference lists its names, and each leads to the page that describes it", async () => {
	const page = await open("/api/holdfast");
	const links = page.locator(".vp-doc td:first-child a");
	for (const name of ["agent", "Agent", "AgentState", "memoryHost"])
		expect([name, await links.filter({ hasText: new RegExp(`^${name}$`) }).count()]).toEqual([name, 1]);
	await links.filter({ hasText: /^agent$/ }).click();
	await page.waitForURL(/\/api\/holdfast\/agent(?:\.html)?#agent$/);
	await page.locator("h2[id='agent']").waitFor();
	const signature = page.locator(".vp-doc .language-ts code").nth(1);
	expect((await signature.innerText()).trim().split("\n").length).toBeGreaterThan(3);
	expect(
		await page
			.locator(".VPSidebar a")
			.filter({ hasText: /^AgentState$/ })
			.count(),
	).toBe(1);
	await page.context().close();
});

test.each([
	["light", "rgb(247, 249, 250)"],
	["dark", "rgb(22, 29, 33)"],
] as const)(
	"a diagram is readable at 360 pixels and follows the colours of the page, %s",
	async (scheme, background) => {
		// The reader chooses on the page, against the system's choice.
		const page = await open("/guide/crash-safety", {
			width: 360,
			colorScheme: scheme === "light" ? "dark" : "light",
		});
		await page.evaluate(
			(chosen) => document.documentElement.classList.toggle("dark", chosen === "dark"),
			scheme,
		);
		const image = page.locator(".vp-doc img").first();
		await image.scrollIntoViewIfNeeded();
		expect((await image.getAttribute("alt"))?.length).toBeGreaterThan(40);
		// Text of 11.5 units in a picture of 360 stays at ten pixels.
		expect(((await image.boundingBox())?.width ?? 0) / 360).toBeGreaterThan(0.86);
		const png = (await image.screenshot()).toString("base64");
		const pixel = await page.evaluate(async (data) => {
			const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
			const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
			const context = canvas.getContext("2d");
			context?.drawImage(bitmap, 0, 0);
			const [r, g, b] = context?.getImageData(8, Math.round(bitmap.height / 2), 1, 1).data ?? [];
			return `rgb(${r}, ${g}, ${b})`;
		}, png);
		expect(pixel).toBe(background);
		await page.context().close();
	},
);

test("commands that install have a tab for each package manager", async () => {
	const page = await open("/");
	const group = page.locator(".vp-code-group").first();
	const shown = group.locator("div[class*='language-'].active code");
	expect(await shown.innerText()).toContain("npm create holdfast");
	for (const name of ["pnpm", "yarn", "bun"]) {
		await group.locator("label", { hasText: new RegExp(`^${name}$`) }).click();
		await expect.poll(() => shown.innerText()).toContain(`${name} create holdfast`);
	}
	await page.context().close();
});

test("each page has its Markdown, and llms.txt names existing pages", async () => {
	const list = readFileSync(join(dist, "llms.txt"), "utf8");
	const paths = [...list.matchAll(/^- \[[^\]]+\]\((?<path>[^)]+)\): \S/gm)].map(
		({ groups }) => groups?.path ?? "",
	);
	expect(paths.length).toBeGreaterThan(100);
	expect(paths.filter((path) => !existsSync(join(dist, path)))).toEqual([]);
	expect(readFileSync(join(dist, "llms-full.txt"), "utf8")).toContain("# Durable sessions");
	const page = await open("/guide/sessions");
	const markdown = page.locator(".markdown-link a");
	expect(await markdown.getAttribute("href")).toBe("/guide/sessions.md");
	expect(readFileSync(join(dist, "guide/sessions.md"), "utf8")).toMatch(/^# Durable sessions\n/);
	expect(existsSync(join(dist, "favicon.svg")) && existsSync(join(dist, "social-card.png"))).toBe(true);
	await page.context().close();
});

test("a sidebar has at most 120 items, because each delays the page on a phone", () => {
	const long = listFiles(dist, ".html")
		.map((file) => ({ file, text: readFileSync(join(dist, file), "utf8") }))
		.map(({ file, text }) => ({ file, items: text.split('class="VPSidebarItem').length - 1 }))
		.filter(({ items }) => items > 120);
	expect(long).toEqual([]);
	expect(readFileSync(join(dist, "guide/tools.html"), "utf8")).toContain('href="/cookbook/"');
});

test("the reference describes the alternatives of a union below it", async () => {
	const page = await open("/api/holdfast/events");
	const heading = page.locator("h3#ToolEndEvent");
	await heading.waitFor();
	const row = page.locator("h3#ToolEndEvent ~ table").first().locator("tr", { hasText: "outcome" });
	expect(await row.innerText()).toContain("How it got its result.");
	await page.context().close();
});

test.each(["/", "/guide/crash-safety", "/api/holdfast/agent", "/cookbook/slack"])(
	"%s has no violation that axe rates as serious or critical",
	async (path) => {
		const page = await open(path);
		await page.locator("h1").first().waitFor();
		await page.addScriptTag({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
		const violations = await page.evaluate(async () => {
			const { axe } = globalThis as unknown as {
				axe: {
					run(): Promise<{ violations: { id: string; impact: string; nodes: { target: unknown[] }[] }[] }>;
				};
			};
			return (await axe.run()).violations.map(({ id, impact, nodes }) => ({
				id,
				impact,
				at: nodes[0]?.target,
			}));
		});
		// These two are of the theme: its search button and the groups of its sidebar.
		const ofTheme = ["label-content-name-mismatch", "nested-interactive"];
		const grave = violations.filter(
			({ id, impact }) => ["serious", "critical"].includes(impact) && !ofTheme.includes(id),
		);
		expect(grave).toEqual([]);
		await page.context().close();
	},
);
