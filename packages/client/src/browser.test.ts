// The package as a browser gets it: one bundle without anything of Node's, small, and working where only web APIs are.
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { startFakeServer } from "./fixtures/server.fixture.ts";

async function bundle(): Promise<string> {
	const build = await rolldown({
		input: join(import.meta.dirname, "index.ts"),
		platform: "browser",
		// Whatever cannot be bundled would be asked of the browser, which has no such thing.
		external: () => false,
	});
	const { output } = await build.generate({ format: "iife", name: "holdfast", minify: true });
	await build.close();
	expect(output).toHaveLength(1);
	expect(output[0].imports).toEqual([]);
	return output[0].code;
}

test("the bundle for browsers is small and uses no Node names", async () => {
	const code = await bundle();
	expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b|\bsetImmediate\b/);
	// A good 5,000 of these are the parser of event streams.
	expect(code.length).toBeLessThan(24_000);
	expect(gzipSync(code).length).toBeLessThan(9_000);
});

test("the bundle runs with only web APIs, even without crypto", async () => {
	const calls = [{ id: "c1", name: "where", arguments: {} }];
	const replies = [{ calls }, { text: "Thank you." }];
	const server = await startFakeServer(() => replies.shift() ?? {});
	try {
		server.faults.push({ cutAfter: 300 });
		const { fetch, Headers, AbortController, TextDecoder } = globalThis;
		const web = { fetch, Headers, AbortController, TextDecoder, setTimeout, clearTimeout, queueMicrotask };
		const page = createContext({ ...web, url: server.url });
		const result = await runInContext(
			`${await bundle()}
			holdfast.createClient({ url, reconnectDelayMs: 1 })
				.execute({ input: "Where am I?", tools: [{ name: "where", run: () => "in a page" }] })
				.result();`,
			page,
		);
		expect(result).toMatchObject({ status: "completed" });
		expect(server.sessions.get("session-1")?.answers).toMatchObject([{ output: "in a page" }]);
	} finally {
		await server.close();
	}
});
