import { spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { type Choice, type CreateIo, create } from "./create.ts";
import { templates } from "./templates.ts";
import { writeTemplate } from "./write-template.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "create-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
	readonly code: number;
	readonly out: string;
	readonly err: string;
}

async function run(argv: readonly string[], io: Partial<CreateIo> = {}): Promise<Outcome> {
	let out = "";
	let err = "";
	const code = await create(argv, {
		folder,
		isTerminal: false,
		userAgent: "npm/11.0.0 node/v24",
		out(text) {
			out += text;
		},
		err(text) {
			err += text;
		},
		ask: async () => {
			throw new Error("Nobody is to be asked here.");
		},
		interruptible: (work) => work(new AbortController().signal),
		...io,
	});
	return { code, out, err };
}

describe("create-holdfast", () => {
	test.each(templates)(
		"creates a folder from the template $name, and prints what to type next",
		async ({ name, scripts }) => {
			const { code, out, err } = await run(["shop", "--template", name]);
			expect([code, err]).toEqual([0, ""]);
			const manifest = JSON.parse(readFileSync(join(folder, "shop/package.json"), "utf8"));
			expect(manifest.name).toBe("shop");
			expect(readFileSync(join(folder, "shop/.gitignore"), "utf8")).toContain("node_modules/");
			expect(existsSync(join(folder, "shop/_gitignore"))).toBe(false);
			expect(out).toContain("cd shop\n  npm install");
			for (const { script } of scripts) expect(manifest.scripts).toHaveProperty(script);
			expect(out).toContain("without a key");
		},
	);

	test("uses the versions of the packages that it is published with", async () => {
		const root = join(import.meta.dirname, "../../..");
		const workspaces = readdirSync(join(root, "packages"));
		const versions = new Map(
			workspaces.map((each) => {
				const { name, version } = JSON.parse(
					readFileSync(join(root, "packages", each, "package.json"), "utf8"),
				);
				return [name, `^${version}`];
			}),
		);
		for (const { name } of templates) {
			await run([name, "--template", name]);
			const manifest = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
			const asked: [string, string][] = Object.entries({
				...manifest.dependencies,
				...manifest.devDependencies,
			});
			for (const [dependency, range] of asked.filter(([each]) => versions.has(each)))
				expect([name, dependency, range]).toEqual([name, dependency, versions.get(dependency)]);
		}
	});

	test.each([
		["Über uns 2", "ber-uns-2"],
		["日本", "agents"],
	])("a folder %s makes the name %s, for npm and for what is deployed", async (name, expected) => {
		expect((await run([name, "--template", "worker"])).code).toBe(0);
		expect(JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")).name).toBe(expected);
		expect(readFileSync(join(folder, name, "wrangler.jsonc"), "utf8")).toContain(`"name": "${expected}",`);
	});

	test("rejects a folder that is not empty, and writes nothing into it", async () => {
		mkdirSync(join(folder, "shop"));
		writeFileSync(join(folder, "shop/notes.txt"), "mine");
		const { code, out, err } = await run(["shop", "--template", "script"]);
		expect([code, out, err]).toEqual([
			1,
			"",
			"shop is not empty (notes.txt), so nothing was written. Name a new folder.\n",
		]);
		expect(readdirSync(join(folder, "shop"))).toEqual(["notes.txt"]);
	});

	test("accepts the current folder if it contains only a repository", async () => {
		mkdirSync(join(folder, ".git"));
		const { code, out } = await run([".", "--template", "script"]);
		expect(code).toBe(0);
		expect(out).toContain("in this folder. Next:\n\n  npm install\n");
	});

	test("leaves no partial result if a file cannot be written", async () => {
		writeFileSync(join(folder, "taken"), "a file where the folder should be");
		const taken = await run(["taken/shop", "--template", "script"]);
		expect(taken.code).toBe(1);
		expect(taken.err).toContain("nothing was left there");
		expect(readdirSync(folder)).toEqual(["taken"]);
		// A folder that fails in the middle: earlier files are removed again.
		mkdirSync(join(folder, "half/test"), { recursive: true });
		writeFileSync(join(folder, "half/agents"), "in the way of a folder");
		const half = { template: "project", folder: join(folder, "half"), mayHold: "other-files" } as const;
		await expect(writeTemplate(half)).rejects.toThrow();
		expect(readdirSync(join(folder, "half"), { recursive: true }).sort()).toEqual(["agents", "test"]);
	});

	test("Ctrl-C at any moment of writing leaves nothing behind", async () => {
		let moments = 0;
		for (let isDone = false; !isDone; moments++) {
			let left = moments;
			const { code, err } = await run(["shop/agents", "--template", "project"], {
				// A signal that aborts after so many looks at it.
				interruptible: (work) => {
					const interrupt = new AbortController();
					const look = interrupt.signal.throwIfAborted.bind(interrupt.signal);
					interrupt.signal.throwIfAborted = () => {
						if (left-- === 0) interrupt.abort();
						look();
					};
					return work(interrupt.signal);
				},
			});
			isDone = code === 0;
			if (isDone) break;
			expect([code, err]).toEqual([130, "Cancelled. Nothing was left in shop/agents.\n"]);
			expect(readdirSync(folder)).toEqual([]);
		}
		expect(moments).toBeGreaterThan(5);
	});

	test("without a terminal it asks nothing and says what to type", async () => {
		const { code, err } = await run(["shop"]);
		expect([code, err]).toEqual([2, expect.stringContaining("my-agent -- --template script")]);
		expect(readdirSync(folder)).toEqual([]);
	});

	test("--yes uses the defaults for all missing answers", async () => {
		expect((await run(["--yes"])).code).toBe(0);
		expect(existsSync(join(folder, "my-agent/agent.ts"))).toBe(true);
	});

	test.each([
		[["a", "b"], 'It takes one folder, not "a" and "b".'],
		[["a", "--template", "scirpt"], 'There is no template "scirpt". Choose one of script,'],
		[["--tempalte", "script"], "Unknown option '--tempalte'"],
		[[" "], "The folder has an empty name."],
	])("%j is rejected: %s", async (argv, problem) => {
		const { code, err } = await run(argv);
		expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
		expect(readdirSync(folder)).toEqual([]);
	});

	test.each([
		["pnpm/10.1.0 npm/? node/v24", "  pnpm install\n  pnpm dev "],
		["yarn/4.0.0", "  yarn install\n  yarn dev "],
		["npm/11.0.0", "  npm install\n  npm run dev "],
	])("started by %s it names that package manager", async (userAgent, expected) => {
		expect((await run(["a folder", "-t", "service"], { userAgent })).out).toContain(
			`cd 'a folder'\n${expected}`,
		);
	});

	test("the program runs from its bin, and prints its version and its templates", () => {
		const bin = join(import.meta.dirname, "../bin/create-holdfast.js");
		const said = (...argv: string[]) =>
			spawnSync(process.execPath, [bin, ...argv], { cwd: folder, encoding: "utf8" });
		expect(said("--version").stdout).toMatch(/^create-holdfast \d+\.\d+\.\d+\n$/);
		expect(said("--help").stdout).toContain("next-chat");
		expect([said("x", "-t", "script").status, said("x", "-t", "script").status]).toEqual([0, 1]);
	});
});

describe("asking", () => {
	/** A simulated user who types `keys`, each after new output. */
	function typing(keys: readonly string[]): Parameters<typeof ask>[2] {
		const input = new PassThrough();
		const output = new PassThrough();
		const waiting = [...keys];
		output.on("data", () => {
			const key = waiting.shift();
			if (key !== undefined) setImmediate(() => input.write(key));
		});
		return { input, output };
	}

	test("uses the folder that is typed and the template that is selected", async () => {
		const chosen = await ask({}, folder, typing(["s", "h", "o", "p", "\r", "\u001b[B", "\r"]));
		expect(chosen).toEqual({ folder: "shop", template: "service" } satisfies Choice);
	});

	test("asks only for what was not given", async () => {
		expect(await ask({ folder: "shop" }, folder, typing(["\r"]))).toEqual({
			folder: "shop",
			template: "script",
		});
	});

	test("Ctrl-C exits and creates nothing", async () => {
		expect(await ask({}, folder, typing(["\u0003"]))).toBeUndefined();
		const { code } = await run([], {
			isTerminal: true,
			ask: (known) => ask(known, folder, typing(["\u0003"])),
		});
		expect([code, readdirSync(folder)]).toEqual([130, []]);
	});
});

test.each(templates)(
	"the template $name tells coding agents its commands and files, and all of them exist",
	async ({ name }) => {
		await writeTemplate({ template: name, folder });
		const page = readFileSync(join(folder, "AGENTS.md"), "utf8");
		const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
		const commands = [...page.matchAll(/^npm (?:run )?(?<script>start|test|[a-z]+)\b/gm)]
			.map(({ groups }) => groups?.script ?? "")
			.filter((script) => script !== "install");
		expect(commands.length).toBeGreaterThan(2);
		expect(commands.filter((script) => scripts[script] === undefined)).toEqual([]);
		const files = [...page.matchAll(/^- `(?<path>[\w./[\]-]+)`: |\. `(?<path>[\w./[\]-]+)`: /gm)];
		expect(files.length).toBeGreaterThan(2);
		const missing = files
			.map(({ groups }) => groups?.path ?? "")
			.filter((path) => !existsSync(join(folder, path)));
		expect(missing).toEqual([]);
	},
);
