// The template of a Worker, in the real runtime with the bindings that its own configuration states.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

const template = "../../create-holdfast/templates/worker";

interface Configuration {
	readonly main: string;
	readonly compatibility_date: string;
	readonly compatibility_flags: readonly string[];
	readonly durable_objects: {
		readonly bindings: readonly { readonly name: string; readonly class_name: string }[];
	};
	readonly migrations: readonly { readonly new_sqlite_classes: readonly string[] }[];
}

const configuration: Configuration = JSON.parse(
	readFileSync(join(import.meta.dirname, template, "wrangler.jsonc"), "utf8").replaceAll(/^\s*\/\/.*$/gm, ""),
);
const { bindings } = configuration.durable_objects;

let script: string;
let persist: string;
let runtime: Miniflare;

beforeAll(async () => {
	script = await bundleWorker(`${template}/${configuration.main}`);
});

beforeEach(() => {
	persist = mkdtempSync(join(tmpdir(), "template-"));
});

afterEach(async () => {
	await runtime.dispose();
	rmSync(persist, { recursive: true, force: true });
});

function start(secrets: Readonly<Record<string, string>>): void {
	runtime = startWorkerd({
		script,
		persist,
		bindings: secrets,
		objects: Object.fromEntries(bindings.map(({ name, class_name }) => [name, class_name])),
		compatibilityDate: configuration.compatibility_date,
		compatibilityFlags: configuration.compatibility_flags,
	});
}

function call(path: string, body?: unknown) {
	return runtime.dispatchFetch(`http://localhost${path}`, {
		headers: { authorization: "Bearer secret", "content-type": "application/json" },
		...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
	});
}

test("every class of objects that is bound is created by a migration", () => {
	start({});
	const made = configuration.migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes);
	expect(bindings.map(({ class_name }) => class_name).sort()).toEqual([...made].sort());
});

test("a session runs its tool, is listed, and continues after the Worker was deployed again", async () => {
	start({ API_KEY: "secret" });
	const asked = await call("/api/agent/execute", { input: "What is 2 + 3?" });
	const sessionId = asked.headers.get("x-session-id") ?? "";
	expect(await asked.text()).toContain("That makes 5.");
	await expect
		.poll(async () => await (await call("/api/agent/sessions")).json())
		.toMatchObject({ sessions: [{ sessionId, isOpen: false }] });
	await runtime.dispose();
	start({ API_KEY: "secret" });
	expect(await (await call("/api/agent/execute", { sessionId, input: "And 4 + 4?" })).text()).toContain(
		"That makes 8.",
	);
	const { messages } = (await (await call(`/api/agent/session/${sessionId}`)).json()) as {
		messages: { role: string }[];
	};
	const turn = ["user", "assistant", "tool", "assistant"];
	expect(messages.map(({ role }) => role)).toEqual([...turn, ...turn]);
});

test("without its secret the Worker explains what to do, and rejects everyone", async () => {
	start({});
	const refused = await call("/api/agent/sessions");
	expect(refused.status).toBe(503);
	expect(await refused.text()).toContain("npx wrangler secret put API_KEY");
});
