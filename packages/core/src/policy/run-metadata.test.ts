import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { RunMetadata } from "./run-metadata.ts";

test("notes of a run can be written and read as a Map and as an object", () => {
	const metadata = new RunMetadata();
	metadata.set("a", 1).set("size", 2).set("__proto__", 3);
	metadata.b = 4;
	expect([metadata.a, metadata.get("a"), metadata.get("b"), metadata.get("__proto__")]).toEqual([1, 1, 4, 3]);
	expect([metadata.has("b"), metadata.has("get"), metadata.get("constructor")]).toEqual([
		true,
		false,
		undefined,
	]);
	expect([...metadata]).toEqual([
		["a", 1],
		["size", 2],
		["__proto__", 3],
		["b", 4],
	]);
	expect([...metadata.keys()]).toEqual(Object.keys(metadata));
	expect([metadata.delete("a"), metadata.delete("a"), metadata.delete("get"), metadata.has("a")]).toEqual([
		true,
		false,
		false,
		false,
	]);
	const seen: unknown[] = [];
	metadata.forEach((value, name) => {
		seen.push([name, value]);
	});
	expect(seen).toEqual([...metadata.entries()]);
});

test("an assignment to `size` is a note like any other", () => {
	const metadata = new RunMetadata();
	expect(metadata.size).toBe(0);
	metadata.size = "large";
	expect(metadata.get("size")).toBe("large");
});

test.each(["call", "session"] as const)("the middlewares of a %s share them in both forms", async (kind) => {
	const seen: unknown[] = [];
	const agent = new Agent({
		model: scriptedModel(["Done."]),
		middleware: [
			{
				name: "map",
				before: (context) => {
					context.metadata.set("startedAt", 7);
					return context;
				},
			},
			{
				name: "object",
				before: (context) => ({ ...context }),
				after: (context, result) => {
					seen.push(context.metadata.startedAt, context.metadata.get("startedAt"));
					return result;
				},
			},
		],
	});
	if (kind === "call") await agent.generate("Go.");
	else await (await agent.session("s").send("Go.")).result();
	await agent.close();
	expect(seen).toEqual([7, 7]);
});
