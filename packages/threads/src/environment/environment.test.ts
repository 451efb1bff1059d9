import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../files/files.fixture.ts";
import { type EnvGiven, type EnvironmentParts, Redactions, ThreadEnvironment } from "./index.ts";

const host = memoryHost();
let threads = 0;

function environment(
	parts: Partial<EnvironmentParts> & { readonly above?: ThreadEnvironment } = {},
): ThreadEnvironment {
	const { above, ...given } = parts;
	return new ThreadEnvironment({
		values: host.values.values(`thread-${++threads}`, "env"),
		parent: async () => above,
		...given,
	});
}

test("a value is read from the thread, the agent, the prompt, the user or the instance, as each earlier source is removed [SA-086] [SA-088]", async () => {
	const given: Record<string, EnvGiven> = {
		agent: { KEY: "agent" },
		prompt: { KEY: "prompt" },
		user: { KEY: { value: "user", type: "text" } },
		instance: { KEY: { value: "instance", type: "text" } },
	};
	const values = host.values.values("layers", "env");
	const env = environment({
		values,
		agent: () => given.agent as Record<string, string>,
		prompt: () => given.prompt as Record<string, string>,
		user: async () => given.user,
		instance: () => given.instance,
	});
	await env.setEnv("KEY", "thread", { type: "text" });
	const seen = async () => [await env.env("KEY"), await env.envType("KEY")];
	expect(await seen()).toEqual(["thread", "text"]);
	await values.delete("KEY");
	expect(await seen()).toEqual(["agent", "secret"]);
	given.agent = {};
	expect(await seen()).toEqual(["prompt", "secret"]);
	given.prompt = {};
	expect(await seen()).toEqual(["user", "text"]);
	given.user = { KEY: "account" };
	expect(await seen()).toEqual(["account", "secret"]);
	given.user = {};
	expect(await seen()).toEqual(["instance", "text"]);
	given.instance = {};
	expect(await env.envType("KEY")).toBe("secret");
	await expect(env.env("KEY")).rejects.toMatchObject({ code: "env_not_set" });
});

test("a short value is not masked, and a thread's text is shown even if others mark it as a secret", async () => {
	const env = environment({ agent: () => ({ LANGUAGE: "en", PAGES: "13", MODE: "verbose-mode" }) });
	expect((await env.redaction()).redact("content of 10 + 3 = 13 in verbose-mode")).toBe(
		"content of 10 + 3 = 13 in [REDACTED:secret]",
	);
	const child = environment({ above: env });
	await env.setEnv("MODE", "verbose-mode", { type: "text" });
	for (const each of [env, child])
		expect((await each.redaction()).redact("verbose-mode")).toBe("verbose-mode");
});

test("the runtime's records keep their fields, ids, kinds and numbers, and their data loses secrets in names and values", async () => {
	const { redact, redactWithin } = await environment({
		instance: () => ({ A: "content", B: "message_data", C: "1700000000", D: "threadId" }),
	}).redaction();
	const made = {
		type: "message_data",
		messageId: "content",
		data: {
			id: "threadId",
			role: "assistant",
			content: "The content.",
			created_at: 1_700_000_000,
			tool_calls: [{ id: "content", function: { name: "content", arguments: '{"a":"content"}' } }],
			metadata: { content: "threadId", threadId: 1_700_000_000 },
		},
	};
	const mark = "[REDACTED:secret]";
	expect(redactWithin(made)).toEqual({
		...made,
		data: {
			...made.data,
			content: `The ${mark}.`,
			tool_calls: [{ id: "content", function: { name: "content", arguments: `{"a":"${mark}"}` } }],
			metadata: { [mark]: mark, [`${mark} 2`]: mark },
		},
	});
	expect(redact({ content: 1_700_000_000 })).toEqual({ [mark]: mark });
	const event = { type: "event", event: "content", data: { role: "content" } };
	expect(redactWithin(event)).toEqual({ ...event, data: { role: mark } });
	const clean = { id: "content", list: ["nothing"] };
	expect(redactWithin(clean)).toBe(clean);
});

test("an unknown name is reported in the error; an empty text is a value; inherited names are not values [SA-087]", async () => {
	const env = environment({ agent: () => ({ EMPTY: "" }), instance: () => ({ EMPTY: "never used" }) });
	expect(await env.env("EMPTY")).toBe("");
	await expect(env.env("NO_SUCH")).rejects.toThrow(/NO_SUCH/);
	await expect(env.env("toString")).rejects.toMatchObject({
		code: "env_not_set",
		data: { name: "toString" },
	});
});

test("a value that is set keeps its type or is a secret, and is read at once and after a restart [SA-089]", async () => {
	const path = `${temporaryFolder()}/env.db`;
	let own = sqliteHost(path);
	let env = environment({
		values: own.values.values("t", "env"),
		instance: () => ({ I: { value: "i", type: "text" } }),
	});
	await env.setEnv("NEW", "1");
	await env.setEnv("SHOWN", "2", { type: "text" });
	await env.setEnv("SHOWN", "3");
	await env.setEnv("I", "4");
	const seen = async () =>
		Promise.all(["NEW", "SHOWN", "I"].map(async (name) => [await env.env(name), await env.envType(name)]));
	const expected = [
		["1", "secret"],
		["3", "text"],
		["4", "text"],
	];
	expect(await seen()).toEqual(expected);
	await own.close();
	own = sqliteHost(path);
	env = environment({ values: own.values.values("t", "env") });
	expect(await seen()).toEqual(expected);
	await expect(env.setEnv("", "x")).rejects.toMatchObject({ code: "invalid_value" });
	await own.close();
});

test("a thread's values reach the threads below it, except scoped ones, and those that a thread has set itself [SA-090]", async () => {
	const parent = environment({
		isScoped: (name) => name === "SCOPED",
		agent: () => ({ AGENT: "of the parent" }),
	});
	const child = environment({ above: parent });
	const grandchild = environment({ above: child });
	await parent.setEnv("A", "parent", { type: "text" });
	await parent.setEnv("SCOPED", "parent");
	expect([await child.env("A"), await grandchild.env("A"), await grandchild.envType("A")]).toEqual([
		"parent",
		"parent",
		"text",
	]);
	await parent.setEnv("A", "changed");
	expect(await grandchild.env("A")).toBe("changed");
	await child.setEnv("A", "child");
	expect([await parent.env("A"), await grandchild.env("A")]).toEqual(["changed", "child"]);
	await expect(child.env("SCOPED")).rejects.toMatchObject({ code: "env_not_set" });
	await expect(child.env("AGENT")).rejects.toMatchObject({ code: "env_not_set" });
	expect([...(await grandchild.all())]).toEqual([["A", { value: "child", type: "text" }]]);
});

describe("a secret value", () => {
	test("is replaced by a mark everywhere in a result; a text is not [SA-091]", async () => {
		const env = environment({
			instance: () => ({ KEY: "correct-horse", SHOWN: { value: "battery", type: "text" } }),
		});
		const { redact } = await env.redaction();
		const result = { result: "the correct-horse battery", deep: [{ "correct-horse": ["x correct-horse"] }] };
		expect(redact(result)).toEqual({
			result: "the [REDACTED:secret] battery",
			deep: [{ "[REDACTED:secret]": ["x [REDACTED:secret]"] }],
		});
		await env.setEnv("KEY", "stapler-4711");
		expect((await env.redaction()).redact("correct-horse stapler-4711")).toBe(
			"[REDACTED:secret] [REDACTED:secret]",
		);
	});

	test("is masked in escaped JSON, an empty one masks nothing, and neither does a flag [SA-093]", async () => {
		const secret = 'pass "word"\n\twith\\all';
		const env = environment({ instance: () => ({ KEY: secret, EMPTY: "", FLAG: "true" }) });
		const { redact } = await env.redaction();
		const once = JSON.stringify({ key: secret });
		expect(redact(once)).toBe('{"key":"[REDACTED:secret]"}');
		expect(redact(JSON.stringify({ inner: once }))).not.toContain("word");
		expect(redact("an empty one, true or not")).toBe("an empty one, true or not");
	});

	test("is masked in errors with their stacks, and in text that arrives in pieces [SA-092]", async () => {
		const env = environment({ instance: () => ({ KEY: "correct-horse" }) });
		const { redact, stream } = await env.redaction();
		const error = redact(new Error("no correct-horse"));
		expect(error.message).toBe("no [REDACTED:secret]");
		expect(error.stack).not.toContain("correct-horse");
		const pieces = stream();
		const text = [..."a correct-horse and correct-h"].map((each) => pieces.push(each)).join("");
		expect(text).toBe("a [REDACTED:secret] and ");
		expect(pieces.flush()).toBe("correct-h");
	});

	test("is prepared once for all threads that share it", async () => {
		const redactions = new Redactions();
		const instance = (): EnvGiven => ({ KEY: "correct-horse" });
		const both = [environment({ redactions, instance }), environment({ redactions, instance })];
		const [one, other] = await Promise.all(both.map((env) => env.redaction()));
		expect(one).toBe(other);
	});

	test("of the threads above is masked in those below [SA-092]", async () => {
		const parent = environment({ isScoped: () => true });
		await parent.setEnv("KEY", "correct-horse");
		const { redact } = await environment({ above: parent }).redaction();
		expect(redact("a correct-horse")).toBe("a [REDACTED:secret]");
	});
});
