import { afterEach, expect, test, vi } from "vitest";
import { useKey } from "./api.ts";
import { actOnAll, type BulkResult } from "./selection.ts";

afterEach(() => vi.unstubAllGlobals());

test("an action on several sessions does not continue with another key", async () => {
	const asked: string[] = [];
	vi.stubGlobal("fetch", async (url: string) => {
		asked.push(url);
		if (asked.length === 2) useKey("key-of-b");
		return Response.json({});
	});
	const results: BulkResult[] = [];
	await actOnAll("delete", ["a", "b", "c", "d", "e", "f"], (result) => results.push(result));
	expect(asked.length).toBeLessThanOrEqual(4);
	expect(results).toHaveLength(6);
	const failed = results.filter(({ state }) => state === "failed");
	expect(failed.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining(["e", "f"]));
	expect(failed[0]?.message).toBe("The key has changed");
});
