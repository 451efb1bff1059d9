import { expect, test } from "vitest";
import { statusByCode } from "../http/errors.ts";
import { fakeService } from "../service.fixture.ts";
import { setUp } from "../setup.fixture.ts";

interface Operation {
	readonly operationId: string;
	readonly parameters?: readonly { readonly in: string; readonly name: string }[];
	readonly requestBody?: object;
	readonly responses: Readonly<Record<string, object>>;
}

interface Document {
	readonly openapi: string;
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const own = {
	method: "GET",
	path: "/own/:name",
	name: "own",
	summary: "A route of the user's own.",
	answers: { 200: { description: "Text." } },
	handle: () => new Response("own"),
} as const;
const { get, handler } = setUp(fakeService(), { routes: [own] });

async function document(): Promise<Document> {
	return (await (await get("/openapi.json")).json()) as Document;
}

test("every path of the document is mounted with exactly its methods", async () => {
	const { paths } = await document();
	expect(Object.keys(paths)).toHaveLength(16);
	for (const [path, operations] of Object.entries(paths)) {
		const address = `http://localhost${path.replaceAll(/\{\w+\}/g, "x")}`;
		for (const method of ["GET", "POST", "PUT", "DELETE"]) {
			const response = await handler.fetch(new Request(address, { method }));
			const isDescribed = operations[method.toLowerCase()] !== undefined;
			expect([path, method, response.status === 405]).toEqual([path, method, !isDescribed]);
			if (isDescribed) {
				const answers = Object.keys(operations[method.toLowerCase()]?.responses ?? {});
				expect(answers).toContain(String(response.status));
			} else
				expect(response.headers.get("allow")?.toLowerCase().split(", ")).toEqual(Object.keys(operations));
		}
	}
	expect((await get("/api/agent/nothing")).status).toBe(404);
});

test("a custom route is mounted, and the document describes it", async () => {
	expect((await document()).paths["/own/{name}"]?.get?.operationId).toBe("own");
	expect(await (await get("/own/x")).text()).toBe("own");
});

test("every reference resolves, every schema is used, and names are unique", async () => {
	const read = await document();
	const text = JSON.stringify(read);
	const named = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
	expect([...named].sort()).toEqual(Object.keys(read.components.schemas).sort());
	const operations = Object.values(read.paths).flatMap((path) => Object.values(path));
	const names = operations.map(({ operationId }) => operationId);
	expect(new Set(names).size).toBe(names.length);
	for (const [path, methods] of Object.entries(read.paths))
		for (const { parameters = [] } of Object.values(methods))
			expect(parameters.filter((each) => each.in === "path").map(({ name }) => `{${name}}`)).toEqual(
				path.match(/\{\w+\}/g) ?? [],
			);
});

test("every code that a caller can get is documented by a route", async () => {
	const text = JSON.stringify((await document()).paths);
	const undocumented = [...statusByCode.keys()].filter((code) => !text.includes(`\`${code}\``));
	// The first are what is answered where there is no route, then what routes of the inspector and of applications answer.
	expect(undocumented.sort()).toEqual(
		[
			"route_not_found",
			"method_not_allowed",
			"inspector_closed",
			"run_not_found",
			"session_exists",
			"session_held",
			"fork_unsettled",
			"changes_expired",
			"duplicate_message",
		].sort(),
	);
});

test("the document describes where a caller over a limit finds the retry time", async () => {
	for (const methods of Object.values((await document()).paths))
		for (const { responses } of Object.values(methods))
			expect(responses["429"]).toMatchObject({ headers: { "Retry-After": { schema: { type: "integer" } } } });
});
