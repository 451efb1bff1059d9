// Every template, as a user gets it: made by the packed create-holdfast, installed, compiled or built, tested, started and
// asked. None of them has a key.

import { templates } from "create-holdfast";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useChatPage } from "./chat-in-browser.fixture.ts";
import { endServers, makeProject, must, type Packed, packAll, serve } from "./new-project.fixture.ts";

let packed: Packed;
beforeAll(async () => {
	packed = await packAll();
});
afterAll(async () => {
	await endServers();
	// Hundreds of megabytes: by a program of their own, while others work.
	await must(["rm", "-rf", packed.folder], "/");
});

const tried = new Set<string>();
function template(name: string, behaviour: (project: () => Promise<string>) => Promise<void>): void {
	tried.add(name);
	test.concurrent(`${name}: is installed from packed packages, compiles, passes its tests, runs without a key`, () =>
		behaviour(() => makeProject(packed, name)));
}

/** Answers of a server of sessions to a question. */
async function ask(url: string, input: string, headers: Record<string, string> = {}): Promise<string> {
	const response = await fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({ input }),
	});
	expect(response.status).toBe(200);
	return response.text();
}

template("script", async (make) => {
	const project = await make();
	await must(["npm", "run", "check"], project);
	expect(await must(["npm", "test"], project)).toMatch(/fail 0/);
	expect(await must(["npm", "start", "--silent", "--", "What is 20 + 22?"], project)).toContain(
		"That makes 42.",
	);
});

template("service", async (make) => {
	const project = await make();
	await must(["npm", "run", "check"], project);
	expect(await must(["npm", "test"], project)).toMatch(/fail 0/);
	const url = await serve(["npm", "start"], project, { PORT: "0" });
	expect(await ask(url, "What is 20 + 22?")).toContain("42");
	expect(await (await fetch(url)).text()).toContain("<html");
});

template("project", async (make) => {
	const project = await make();
	await must(["npm", "run", "check"], project);
	expect(await must(["npm", "test"], project)).toMatch(/fail 0/);
	const url = await serve(["npm", "run", "dev", "--", "--port", "0"], project);
	const created = await fetch(`${url}/api/threads`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ agent_id: "assistant" }),
	});
	expect(created.status).toBe(201);
});

template("next-chat", async (make) => {
	const project = await make();
	expect(await must(["npm", "run", "build"], project)).toContain("Compiled successfully");
	const url = await serve(["npm", "start", "--", "--port", "0"], project);
	const chat = crypto.randomUUID();
	const page = await fetch(`${url}/chat/${chat}`);
	expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<main")]);
	const message = { id: "m1", role: "user", parts: [{ type: "text", text: "What is 20 + 22?" }] };
	const answer = await fetch(`${url}/api/chat`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ id: chat, messages: [message], trigger: "submit-message" }),
	});
	expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("42")]);
	const loaded = await (await fetch(`${url}/api/chat/${chat}`)).json();
	expect(JSON.stringify(loaded)).toContain("My tool says: 42");
	await useChatPage(url);
});

template("worker", async (make) => {
	const project = await make();
	await must(["npm", "run", "check"], project);
	expect(await must(["npm", "test"], project)).toMatch(/fail 0/);
	const url = await serve(["npm", "run", "dev", "--", "--port", "0", "--inspector-port", "0"], project);
	expect(await ask(url, "What is 20 + 22?", { authorization: "Bearer dev" })).toContain("42");
});

test("every available template is tested here", () => {
	expect([...tried].sort()).toEqual(templates.map(({ name }) => name).sort());
});
