// Derives the route and the method of an endpoint from its file path.
import type { ProjectEndpoint } from "../types/index.ts";

/** A route and its method. */
export type Route = Pick<ProjectEndpoint, "route" | "method">;

const method = /\.(?<method>get|post|put|patch|delete)$/;

/** Returns the route for a file's path below `api/` without its extension, such as `files/[id].post`. */
export function routeOf(stem: string): Route {
	const suffix = method.exec(stem)?.groups?.method;
	const path = suffix === undefined ? stem : stem.slice(0, -suffix.length - 1);
	const route = path === "index" ? "" : path.replace(/\/index$/, "");
	return { route, method: (suffix ?? "get").toUpperCase() as Route["method"] };
}

/** Returns the same key for routes that match the same paths: names of dynamic segments do not count. */
export function routeKey({ route, method }: Route): string {
	return `${method} /${route.replaceAll(/\[(?!\*\])[^\]]*\]/g, "[]")}`;
}

/** Returns the problem of a route; undefined if it is valid. */
export function routeProblem(route: string): string | undefined {
	const segments = route === "" ? [] : route.split("/");
	const names = new Set<string>();
	for (const [at, segment] of segments.entries()) {
		if (!/[[\]]/.test(segment)) continue;
		const name = /^\[(?<name>\*|[\w-]+)\]$/.exec(segment)?.groups?.name;
		if (name === undefined) return `The segment "${segment}" must be [name] or [*] as a whole.`;
		if (name === "*" && at < segments.length - 1) return "The segment [*] must be the last one.";
		if (names.has(name)) return `The segment [${name}] occurs twice.`;
		names.add(name);
	}
	return undefined;
}
