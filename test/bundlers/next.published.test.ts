// Next builds an application with each of its bundlers, and the built server runs everything that it imports.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeApplication, specifiers } from "./bundlers.fixture.ts";
import { buildNext, nameOf, nextPackages, startNext, writeNextApplication } from "./next.fixture.ts";

let app: string;
beforeAll(async () => {
	app = await makeApplication(nextPackages);
	writeNextApplication(app, specifiers);
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

describe.each(["--turbopack", "--webpack"] as const)("next build %s", (bundler) => {
	test("builds every entry of every package, and the server runs agents, sessions, databases and sandboxes", async () => {
		const { code, output } = await buildNext(app, bundler);
		expect([code, output]).toEqual([0, expect.not.stringMatching(/Critical dependency|Module not found/)]);
		await using server = await startNext(app, join(mkdtempSync(join(app, "data-")), "agents.db"));

		const answers = { text: "It is noon.", messages: 4 };
		expect(await server.get("/agent")).toEqual(answers);
		// The session is kept.
		expect(await server.get("/agent")).toEqual({ ...answers, messages: 8 });
		const served = await server.post("/api/agent/execute", {
			sessionId: "served",
			input: "What time is it?",
			context: {},
		});
		expect(served).toContain("execute_complete");
		expect(await server.get("/api/agent/session/served")).toMatchObject({ sessionId: "served" });
		expect(await server.get("/orders")).toEqual({ rows: [{ n: 1 }] });
		expect(await server.get("/sandbox")).toMatchObject({ status: "success", result: 2 });
		// The package of the provider is found: the address refuses the connection.
		expect(await server.get("/optional")).toMatchObject({ code: "NETWORK_ERROR" });

		for (const specifier of specifiers)
			expect(await server.get(`/entries/${nameOf(specifier)}`), specifier).toBeInstanceOf(Array);
	});
});
