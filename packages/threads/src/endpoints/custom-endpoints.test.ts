import { expect, test } from "vitest";
import { defineController, defineThreadEndpoint, isThreadEndpoint } from "../define/index.ts";
import { loadProject } from "../load/index.ts";
import {
	agentSource,
	type Files,
	modelSource,
	promptSource,
	smallProject,
	writeProject,
} from "../project.fixture.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import type { ThreadState } from "../types/index.ts";
import { served } from "./endpoints.fixture.ts";

const saysWhere = (name: string) =>
	defineThreadEndpoint((_req, _state, params) => Response.json({ name, params }));

test("an endpoint gets the request, the thread without an execution, and its parameters; its response is returned unchanged [SA-193]", async () => {
	let given: ThreadState | undefined;
	const { ask, thread } = served(
		oneAgent(scripted([]), {
			endpoints: {
				"files/[id] POST": defineThreadEndpoint(async (req, state, params) => {
					given = state;
					const run = await state.runCode("export default (n) => n + 1", { execute: { args: [41] } });
					return new Response(JSON.stringify([await req.text(), params, state.execution, run.result]), {
						status: 418,
						headers: { "x-own": "yes", "content-type": "text/plain" },
					});
				}),
				moved: defineThreadEndpoint(() => Response.redirect("http://localhost/elsewhere", 307)),
			},
		}),
	);
	const id = await thread();
	const { response } = await ask("POST", `/api/threads/${id}/files/a%20b`, "the body");
	expect([response.status, response.headers.get("x-own"), response.headers.get("content-type")]).toEqual([
		418,
		"yes",
		"text/plain",
	]);
	expect(await response.json()).toEqual(["the body", { id: "a b" }, null, 42]);
	expect(given?.threadId).toBe(id);
	const moved = await ask("GET", `/api/threads/${id}/moved`);
	expect([moved.status, moved.response.headers.get("location")]).toEqual([307, "http://localhost/elsewhere"]);
});

test("a controller finds the definitions of the project by name", async () => {
	const names = defineController(async ({ agents = {}, models = {}, prompts = {} }) => {
		const main = (await models.main?.()) as { model: string } | undefined;
		return { agents: Object.keys(agents), prompts: Object.keys(prompts), model: main?.model };
	});
	const { ask } = served(oneAgent(scripted([]), { endpoints: { names } }));
	expect((await ask("GET", "/api/names")).body).toEqual({
		agents: ["helper"],
		prompts: ["help"],
		model: "m-1",
	});
});

test("a controller gets the request and the program's context, and is not an endpoint of threads [SA-194]", async () => {
	const hello = defineController(({ req, env, params, url }) => ({
		method: req.method,
		env: Object.keys(env),
		params,
		search: url.search,
	}));
	const text = defineController(() => "text");
	const { ask, thread } = served(
		oneAgent(scripted([]), {
			endpoints: { "hello/[name]": hello, "text POST": text, status: saysWhere("thread") },
		}),
		{ routes: { env: { store: { of: "the program" } } } },
	);
	expect([isThreadEndpoint(hello), isThreadEndpoint(saysWhere("x"))]).toEqual([false, true]);
	expect((await ask("GET", "/api/hello/ann?x=1")).body).toEqual({
		method: "GET",
		env: ["store"],
		params: { name: "ann" },
		search: "?x=1",
	});
	expect(await (await ask("POST", "/api/text")).response.text()).toBe("text");
	const id = await thread();
	for (const path of ["/api/status", "/api/text", `/api/threads/${id}/hello/ann`, "/api/none"])
		expect((await ask("GET", path)).status, path).toBe(404);
});

test("methods, segments and the best of several routes follow the file names [SA-195] [SA-196] [SA-197]", async () => {
	const { ask, thread } = served(
		oneAgent(scripted([]), {
			endpoints: {
				"[*]": saysWhere("rest"),
				"files/[id]": saysWhere("one"),
				"files/[id] DELETE": saysWhere("removed"),
				"files/new": saysWhere("new"),
				"docs/[*] PUT": saysWhere("docs"),
			},
		}),
	);
	const path = `/api/threads/${await thread()}`;
	const answer = async (method: string, rest: string) => {
		const { status, body } = await ask(method, `${path}${rest}`);
		return status === 200 ? [body.name, body.params] : status;
	};
	expect(await answer("GET", "/files/7%2F8")).toEqual(["one", { id: "7/8" }]);
	expect(await answer("DELETE", "/files/7")).toEqual(["removed", { id: "7" }]);
	expect(await answer("GET", "/files/new")).toEqual(["new", {}]);
	expect(await answer("GET", "/files/7/8")).toEqual(["rest", { "*": "files/7/8" }]);
	expect(await answer("PUT", "/docs")).toEqual(["docs", { "*": "" }]);
	expect(await answer("PUT", "/docs/a/b")).toEqual(["docs", { "*": "a/b" }]);
	expect(await answer("POST", "/files/7")).toBe(404);
	expect(await answer("PATCH", "/anything")).toBe(404);
});

test("effects and endpoints that a package declares belong to the project, under its name and beneath its threads [SA-213]", async () => {
	const packed = (name: string, declared: object): Files => ({
		[`agents/packed/${name}/package.json`]: {
			name,
			standardagent: { entryAgents: ["seller"], ...declared },
		},
		[`agents/packed/${name}/agents/agents/seller.ts`]: agentSource("seller", "sell"),
		[`agents/packed/${name}/agents/prompts/sell.ts`]: promptSource("sell"),
		[`agents/packed/${name}/agents/models/small.ts`]: modelSource("small"),
		[`agents/packed/${name}/agents/providers/none.ts`]: smallProject["agents/providers/none.ts"] ?? "",
	});
	const folder = writeProject({
		...smallProject,
		...packed("bare", {}),
		...packed("shop", { effects: ["tidy"], threadEndpoints: ["status.get"] }),
		"agents/packed/shop/agents/effects/tidy.ts":
			'export default { description: "x", handler: (state) => state.setValue("tidied", state.threadId) };',
		"agents/packed/shop/agents/api/status.get.ts": `import { defineThreadEndpoint } from "@holdfast/threads";
export default defineThreadEndpoint((_req, state) => Response.json({ of: state.threadId }));`,
		"agents/packed/shop/agents/api/inner.ts": `import { defineThreadEndpoint } from "@holdfast/threads";
export default defineThreadEndpoint(() => new Response("inner"));`,
	});
	const { ask, thread, threads } = served(await loadProject(folder));
	for (const agent_id of ["helper", "bare/seller"]) {
		const id = await thread({ agent_id });
		expect((await ask("GET", `/api/threads/${id}/status`)).body).toEqual({ of: id });
		for (const path of ["/inner", "/shop/status"])
			expect((await ask("GET", `/api/threads/${id}${path}`)).status, path).toBe(404);
	}
	expect((await ask("GET", "/api/status")).status).toBe(404);
	const state = await threads.get(await thread());
	await expect(state?.scheduleEffect("tidy", {}, 0)).rejects.toMatchObject({ code: "unknown_effect" });
	await state?.scheduleEffect("shop/tidy", {}, 0);
	await expect.poll(() => state?.getValue("tidied")).toBe(state?.threadId);
});

test("unknown threads, paths and methods get 404 [SA-198]", async () => {
	// The path of the first is not one of the second, whatever method is asked for.
	const endpoints = { status: saysWhere("status"), "[any] POST": saysWhere("any") };
	const { ask, thread } = served(oneAgent(scripted([]), { endpoints }));
	const id = await thread();
	for (const [method, path] of [
		["GET", "/api/threads/unknown/status"],
		["GET", `/api/threads/${id}/other`],
		["GET", `/api/threads/${id}/status/more`],
		["POST", `/api/threads/${id}/status`],
		["PUT", `/api/threads/${id}/messages`],
		["DELETE", `/api/threads/${id}/kv`],
	] as const)
		expect((await ask(method, path)).status, `${method} ${path}`).toBe(404);
	expect((await ask("GET", `/api/threads/${id}/status`)).status).toBe(200);
	expect((await ask("POST", `/api/threads/${id}/other`)).status).toBe(200);
});

test("an endpoint that throws gets 500 without its text, and the server continues [SA-092] [SA-199]", async () => {
	const { ask, thread, errors } = served(
		oneAgent(scripted([]), {
			endpoints: {
				broken: defineThreadEndpoint(async (_req, state) => {
					const key = await state.env("KEY");
					throw new Error(`it broke with ${key}\n    at ${key}`); // a line like those of a stack, which is logged
				}),
				"broken POST": defineThreadEndpoint(() => {
					throw Object.assign(new Error("hidden"), { code: "session_not_found" });
				}),
				nothing: defineThreadEndpoint(() => undefined as unknown as Response),
			},
		}),
		{ env: { KEY: "correct-horse" } },
	);
	const path = `/api/threads/${await thread()}`;
	for (const method of ["GET", "POST"]) {
		const { status, body } = await ask(method, `${path}/broken`);
		expect(status).toBe(500);
		expect(Object.keys(body)).toEqual(["error", "code"]);
		expect(JSON.stringify(body)).not.toMatch(/broke|correct-horse|hidden|\.ts:\d/);
	}
	expect(errors).toMatchObject([{ code: "endpoint_failed" }, { code: "endpoint_failed" }]);
	expect(JSON.stringify(errors)).toContain("custom-endpoints.test.ts");
	expect(JSON.stringify(errors)).not.toContain("correct-horse");
	expect((await ask("GET", `${path}/nothing`)).status).toBe(204);
	expect((await ask("GET", path)).status).toBe(200);
});

test("tenants and users see only their own threads", async () => {
	const callers: Record<string, { tenant: string; user?: string }> = {
		a: { tenant: "a" },
		ann: { tenant: "a", user: "ann" },
		bob: { tenant: "a", user: "bob" },
		b: { tenant: "b" },
	};
	const { ask } = served(oneAgent(scripted([]), { endpoints: { status: saysWhere("status") } }), {
		server: { authenticate: (request) => callers[request.headers.get("x-api-key") ?? ""] },
	});
	const as = (name: string) => ({ "x-api-key": name });
	expect((await ask("GET", "/api/threads")).status).toBe(401);
	const ofTenant = (await ask("POST", "/api/threads", { agent_id: "helper" }, as("a"))).body;
	const ofAnn = (await ask("POST", "/api/threads", { agent_id: "helper" }, as("ann"))).body;
	expect(ofAnn.user_id).toBe("ann");
	expect((await ask("POST", "/api/threads", { agent_id: "helper", user_id: "bob" }, as("ann"))).status).toBe(
		403,
	);
	const listed = async (name: string) =>
		((await ask("GET", "/api/threads", undefined, as(name))).body.threads as { id: string }[]).map(
			({ id }) => id,
		);
	expect(await listed("a")).toEqual([ofAnn.id, ofTenant.id]);
	expect(await listed("ann")).toEqual([ofAnn.id]);
	expect([await listed("bob"), await listed("b")]).toEqual([[], []]);
	for (const rest of ["", "/messages", "/status", "/stream", "/fs/a"])
		for (const name of ["bob", "b"])
			expect((await ask("GET", `/api/threads/${ofAnn.id}${rest}`, undefined, as(name))).status).toBe(404);
	expect((await ask("DELETE", `/api/threads/${ofTenant.id}`, undefined, as("b"))).status).toBe(404);
	expect((await ask("GET", `/api/threads/${ofTenant.id}`, undefined, as("a"))).status).toBe(200);
});

test("the OpenAPI document has every route of threads, and the project's definitions are listed", async () => {
	const { ask } = served(oneAgent(scripted([]), { agent: { description: "Helps." } }));
	const { paths } = (await ask("GET", "/openapi.json")).body as { paths: Record<string, object> };
	const described = Object.entries(paths).flatMap(([path, methods]) =>
		path.startsWith("/api/threads")
			? Object.keys(methods).map((method) => `${method} ${path.slice(12)}`)
			: [],
	);
	expect(described.sort()).toEqual(
		[
			"get ",
			"post ",
			"get /{id}",
			"patch /{id}",
			"delete /{id}",
			"get /{id}/messages",
			"post /{id}/messages",
			"patch /{id}/messages/{messageId}",
			"delete /{id}/messages/{messageId}",
			"get /{id}/fs/{path}",
			"put /{id}/fs/{path}",
			"delete /{id}/fs/{path}",
			"get /{id}/stream",
			"post /{id}/stop",
			"post /{id}/continue",
			"get /{id}/effects",
			"post /{id}/effects/{effectId}/cancel",
			"post /{id}/effects/{effectId}/run",
			"get /{id}/kv",
			"get /{id}/logs",
			"get /{id}/cost",
			"get /{id}/subagents",
		].sort(),
	);
	expect((await ask("GET", "/api/agents")).body).toEqual({
		agents: [{ name: "helper", package: null, description: "Helps." }],
	});
	expect((await ask("GET", "/api/models")).body.models).toMatchObject([{ name: "main" }]);
});
