import { expect, test } from "vitest";
import { routeKey, routeOf, routeProblem } from "./routes.ts";

test("a file answers the method of its suffix, and GET without one [SA-195]", () => {
	for (const method of ["get", "post", "put", "patch", "delete"])
		for (const route of ["status", "files/[id]", "docs/[*]"])
			expect(routeOf(`${route}.${method}`)).toEqual({ route, method: method.toUpperCase() });
	for (const route of ["status", "files/[id]", "post", "v1.2", "a.head", "a.options"])
		expect(routeOf(route)).toEqual({ route, method: "GET" });
	expect(routeOf("index.post")).toEqual({ route: "", method: "POST" });
	expect(routeOf("files/index")).toEqual({ route: "files", method: "GET" });
});

test("routes that match the same paths are one, regardless of the names of their segments", () => {
	expect(routeKey({ route: "files/[id]", method: "GET" })).toBe(
		routeKey({ route: "files/[name]", method: "GET" }),
	);
	expect(routeKey({ route: "files/[*]", method: "GET" })).not.toBe(
		routeKey({ route: "files/[id]", method: "GET" }),
	);
});

test("a dynamic segment is a whole one, and the rest of a path the last [SA-196]", () => {
	for (const route of ["", "a/[b]/c", "a/[b]/[*]"]) expect(routeProblem(route)).toBeUndefined();
	for (const route of ["a[b]", "[]", "[*]/a", "[a]/[a]", "[a.b]"]) expect(routeProblem(route)).toMatch(/./);
});
