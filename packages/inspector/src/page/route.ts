// The page's location: the part of the address after `#`, so that links, history and reloading work without the server.
import { computed, signal } from "@preact/signals";
import { areThreads, hasPlayground } from "./about.ts";

// Tests of what the page derives import it without a page.
const hash = signal(globalThis.location?.hash ?? "");
globalThis.addEventListener?.("hashchange", () => {
	hash.value = location.hash;
});

/** The filters of the list that were used last: the link back to the list keeps them. */
let lastQuery = "";

/** The part of the address that holds the filters of the list; empty in other views. */
export const listQuery = computed(() => {
	const { value } = hash;
	if (!/^(#\/?)?(\?|$)/.test(value)) return lastQuery;
	lastQuery = value.split("?")[1] ?? "";
	return lastQuery;
});

/** Replaces the filters, without a new step in the history. */
export function replaceListQuery(query: string): void {
	lastQuery = query;
	history.replaceState(history.state, "", query === "" ? "#/" : `#/?${query}`);
	hash.value = location.hash;
}

/** Tabs of a session. */
const allTabs = [
	"conversation",
	"timeline",
	"steps",
	"context",
	"workflow",
	"tree",
	"plan",
	"files",
	"values",
	"effects",
	"charts",
	"replay",
	"playground",
] as const;
export type Tab = (typeof allTabs)[number];
/** Threads have files, values and effects; sessions have plans. */
const ofThreads: ReadonlySet<Tab> = new Set(["files", "values", "effects"]);

/** Whether the session that is shown is of a workflow. */
export const isWorkflow = signal(false);

/** Returns the tabs for the kind of session shown. */
export function tabsNow(): readonly Tab[] {
	return allTabs.filter(
		(tab) =>
			(areThreads() ? tab !== "plan" : !ofThreads.has(tab)) &&
			(tab !== "workflow" || isWorkflow.value) &&
			(tab !== "playground" || hasPlayground()),
	);
}

export type Place =
	| { readonly view: "sessions" }
	| { readonly view: "usage" }
	| { readonly view: "prompts"; readonly promptId?: string }
	| { readonly view: "skills"; readonly skill?: string }
	| {
			readonly view: "session";
			readonly sessionId: string;
			readonly tab: Tab;
			readonly child?: string;
			/** The entry to show first. */
			readonly entry?: number;
	  }
	| { readonly view: "compare"; readonly left: string; readonly right: string };

/** The current location. */
export const place = computed<Place>(() => read(hash.value));

/** Returns the address of a location. */
export function linkTo(to: Place): string {
	switch (to.view) {
		case "sessions":
			return lastQuery === "" ? "#/" : `#/?${lastQuery}`;
		case "usage":
			return "#/usage";
		case "prompts":
			return to.promptId === undefined ? "#/prompts" : `#/prompts/${encodeURIComponent(to.promptId)}`;
		case "skills":
			return to.skill === undefined ? "#/skills" : `#/skills/${encodeURIComponent(to.skill)}`;
		case "session":
			return `#/session/${encodeURIComponent(to.sessionId)}/${to.tab}${to.child === undefined ? "" : `/${encodeURIComponent(to.child)}`}${to.entry === undefined ? "" : `?entry=${to.entry}`}`;
		case "compare":
			return `#/compare/${encodeURIComponent(to.left)}/${encodeURIComponent(to.right)}`;
	}
}

/** Navigates to a location. */
export function go(to: Place): void {
	location.hash = linkTo(to);
}

function read(text: string): Place {
	const [path = "", query = ""] = text.split("?");
	const [view = "", ...rest] = path.replace(/^#\/?/, "").split("/").map(decoded);
	const [first = "", second = "", third = ""] = rest;
	if (view === "usage") return { view };
	if (view === "prompts") return { view, ...(first === "" ? {} : { promptId: first }) };
	if (view === "skills") return { view, ...(first === "" ? {} : { skill: first }) };
	if (view === "compare" && first !== "") return { view, left: first, right: second };
	if (view === "session" && first !== "") {
		const tab = [...tabsNow(), "workflow" as const].find((each) => each === second) ?? "conversation";
		const entry = Number(new URLSearchParams(query).get("entry") ?? 0);
		return {
			view,
			sessionId: first,
			tab,
			...(third === "" ? {} : { child: third }),
			...(Number.isSafeInteger(entry) && entry > 0 ? { entry } : {}),
		};
	}
	return { view: "sessions" };
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
