// `npm run create`: a project with the packages of this clone, until they are published.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../tools/run-command.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-create-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = {
	PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
	OPENAI_API_KEY: undefined,
	NODE_OPTIONS: undefined,
	NODE_ENV: undefined,
	VITEST: undefined,
};

test("npm run create creates a project that answers, from only the clone", async () => {
	const made = await runCommand(["npm", "run", "create", "--", join(folder, "shop")], {
		folder: root,
		environment,
	});
	expect(made).toMatchObject({
		code: 0,
		output: expect.stringMatching(/Installing … [\d.]+ s\nDone in \d+ s/),
	});
	const project = { folder: join(folder, "shop"), environment };
	const asked = await runCommand(["npm", "start", "--silent", "--", "What is 20 + 22?"], project);
	expect(asked).toMatchObject({ code: 0, output: expect.stringContaining("That makes 42.") });
	expect((await runCommand(["npm", "run", "check"], project)).output).not.toContain("error");
	// It may be moved, and the clone removed.
	expect(readFileSync(join(folder, "shop/package-lock.json"), "utf8")).not.toContain(root);
});

test("without a network it leaves a complete project, and explains what to type later", async () => {
	const unreachable = {
		...environment,
		npm_config_registry: "http://127.0.0.1:9/",
		npm_config_cache: join(folder, "empty-cache"),
		npm_config_fetch_retries: "0",
	};
	const name = join(folder, "offline");
	const { code, output } = await runCommand(["npm", "run", "create", "--", name, "-t", "service"], {
		folder: root,
		environment: unreachable,
	});
	expect(code).toBe(1);
	expect(output).toContain("npm cannot reach its registry (ECONNREFUSED)");
	expect(output).toContain(`cd ${name} && npm install`);
	expect(readFileSync(join(name, "Dockerfile"), "utf8")).toContain(
		"COPY holdfast-packages holdfast-packages\n",
	);
	const installed = await runCommand(["npm", "install", "--silent"], { folder: name, environment });
	expect(installed).toMatchObject({ code: 0 });
});
