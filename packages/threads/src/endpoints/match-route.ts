// Finds the route of a project that matches a path: a static segment precedes a dynamic one, which precedes the rest of
// the path, regardless of the order of files. Matching visits each route once.

/** A route as a project has it. */
interface RouteLike {
	/** Without a leading or trailing slash: `files/[id]`, `docs/[*]`; empty for the root. */
	readonly route: string;
	/** In upper case. */
	readonly method: string;
}

type Segment =
	| { readonly kind: "static"; readonly text: string }
	| { readonly kind: "dynamic"; readonly name: string }
	| { readonly kind: "rest" };

interface Compiled<Route> {
	readonly route: Route;
	readonly segments: readonly Segment[];
	/** Sorts by rank. Routes of the same shape have the same value. */
	readonly shape: string;
}

/** A route, and the values of its dynamic segments. */
export interface Match<Route> {
	readonly route: Route;
	readonly params: Record<string, string>;
}

/** Finds the route for a method and an encoded path, with or without a leading slash. */
export type MatchRoute<Route> = (method: string, path: string) => Match<Route> | undefined;

/** Prepares routes for matching. */
export function routeMatcher<Route extends RouteLike>(routes: readonly Route[]): MatchRoute<Route> {
	const compiled = routes.map(compile).sort((one, other) => (one.shape < other.shape ? -1 : 1));
	return (method, path) => {
		const names = segmentsOf(path);
		if (names === undefined) return undefined;
		let shape: string | undefined;
		for (const each of compiled) {
			// The best matching shape decides; only its methods are bound.
			if (shape !== undefined && each.shape !== shape) return undefined;
			const params = matched(each.segments, names);
			if (params === undefined) continue;
			shape = each.shape;
			if (each.route.method === method) return { route: each.route, params };
		}
		return undefined;
	};
}

function compile<Route extends RouteLike>(route: Route): Compiled<Route> {
	const segments = route.route
		.split("/")
		.filter((text) => text !== "")
		.map((text): Segment => {
			if (text === "[*]") return { kind: "rest" };
			const name = /^\[(.+)\]$/.exec(text)?.[1];
			return name === undefined ? { kind: "static", text } : { kind: "dynamic", name };
		});
	// The end of a route precedes the rest of a path, which may be empty.
	const ranks = { static: "1", dynamic: "2", rest: "3" } as const;
	const shape = segments
		.map((each) => ranks[each.kind] + (each.kind === "static" ? each.text : ""))
		.join("/");
	return { route, segments, shape };
}

/** Returns the decoded segments of a path; undefined if it cannot be decoded. */
function segmentsOf(path: string): readonly string[] | undefined {
	const bare = path.replace(/^\//, "").replace(/\/$/, "");
	if (bare === "") return [];
	try {
		return bare.split("/").map(decodeURIComponent);
	} catch {
		return undefined;
	}
}

function matched(segments: readonly Segment[], names: readonly string[]): Record<string, string> | undefined {
	const params: Record<string, string> = {};
	for (const [at, segment] of segments.entries()) {
		if (segment.kind === "rest") return { ...params, "*": names.slice(at).join("/") };
		const name = names[at];
		if (name === undefined || name === "") return undefined;
		if (segment.kind === "dynamic")
			Object.defineProperty(params, segment.name, { value: name, enumerable: true });
		else if (segment.text !== name) return undefined;
	}
	return segments.length === names.length ? params : undefined;
}
