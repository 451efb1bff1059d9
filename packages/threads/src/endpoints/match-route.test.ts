import * as fc from "fast-check";
import { expect, test } from "vitest";
import { routeMatcher } from "./match-route.ts";

function matcher(...routes: string[]): (path: string, method?: string) => unknown {
	const match = routeMatcher(
		routes.map((each) => {
			const [route = "", method = "GET"] = each.split(" ");
			return { route, method };
		}),
	);
	return (path, method = "GET") => {
		const found = match(method, path);
		return found === undefined ? undefined : [found.route.route, found.params];
	};
}

test("a route without a method answers GET, others exactly their method [SA-195]", () => {
	const match = matcher("status", "status POST", "items DELETE", "items PATCH", "items PUT");
	expect(match("status")).toEqual(["status", {}]);
	expect(match("/status/", "POST")).toEqual(["status", {}]);
	for (const method of ["PUT", "PATCH", "DELETE"]) {
		expect(match("status", method)).toBeUndefined();
		expect(match("items", method)).toEqual(["items", {}]);
	}
	expect([match("items"), match("items", "POST"), match("Status")]).toEqual([
		undefined,
		undefined,
		undefined,
	]);
});

test("a dynamic segment matches one decoded segment, the rest of a path none or more [SA-196]", () => {
	const match = matcher("files/[id]", "docs/[*]", "a/[x]/b/[y]");
	expect(match("files/a%2Fb%20c")).toEqual(["files/[id]", { id: "a/b c" }]);
	expect([match("files"), match("files/"), match("files//"), match("files/a/b"), match("files/%ZZ")]).toEqual(
		[undefined, undefined, undefined, undefined, undefined],
	);
	expect(match("docs")).toEqual(["docs/[*]", { "*": "" }]);
	expect(match("docs/")).toEqual(["docs/[*]", { "*": "" }]);
	expect(match("docs/a/b%20c/d")).toEqual(["docs/[*]", { "*": "a/b c/d" }]);
	expect(match("a/1/b/2")).toEqual(["a/[x]/b/[y]", { x: "1", y: "2" }]);
});

test("a static route takes precedence over a dynamic one, and that over the rest, in any order of the files [SA-197]", () => {
	const routes = ["[*]", "files/[id]", "files/new", "files/[*]", "files", "files/[id]/raw", "files/new/[*]"];
	const expected: readonly (readonly [string, string])[] = [
		["files", "files"],
		["files/new", "files/new"],
		["files/7", "files/[id]"],
		["files/7/raw", "files/[id]/raw"],
		["files/7/other", "files/[*]"],
		["files/new/raw", "files/new/[*]"],
		["other", "[*]"],
		["", "[*]"],
	];
	fc.assert(
		fc.property(fc.shuffledSubarray(routes, { minLength: routes.length }), (order) => {
			const match = matcher(...order);
			for (const [path, route] of expected) expect(match(path)).toMatchObject([route, {}]);
		}),
		{ numRuns: 30 },
	);
	const both = matcher("files/[id]", "files/[name] POST", "files/[*] PUT");
	expect(both("files/7", "POST")).toEqual(["files/[name]", { name: "7" }]);
	expect(both("files/7", "PUT")).toBeUndefined();
});

test("a name that every object inherits works as a parameter", () => {
	expect(Object.keys((matcher("[__proto__]")("x") as [string, object])[1])).toEqual(["__proto__"]);
});
