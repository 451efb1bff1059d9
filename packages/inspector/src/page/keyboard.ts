// All keyboard shortcuts: views register theirs while they are shown. Input fields receive their keys as text.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { about } from "./about.ts";
import { go, place, tabsNow } from "./route.ts";

/** Whether the list of keys is shown. */
export const helpIsOpen = signal(false);

/** The actions of keys, by `KeyboardEvent.key`. */
export type Keys = Readonly<Record<string, () => void>>;

const views: Keys[] = [];

/** When the component is removed with the focus inside, returns the focus to where it was when the component appeared. */
export function useFocusBack(of: { readonly current: HTMLElement | null }): void {
	useLayoutEffect(() => {
		const before = document.activeElement;
		const element = of.current;
		return () => {
			if (element?.contains(document.activeElement) && before instanceof HTMLElement) before.focus();
		};
	}, []);
}

/** Registers keys while the view is shown. */
export function useKeys(keys: Keys): void {
	useEffect(() => {
		views.push(keys);
		return () => {
			views.splice(views.indexOf(keys), 1);
		};
	});
}

const everywhere: Keys = {
	"?": () => {
		helpIsOpen.value = true;
	},
	g: () => go({ view: "sessions" }),
	u: () => go({ view: "usage" }),
	p: () => {
		if (about.value?.hasPrompts === true) go({ view: "prompts" });
	},
	c: () => focus("#composer"),
	"/": () => {
		if (place.value.view === "sessions") return focus("#search");
		go({ view: "sessions" });
		// The view exists only after the page was drawn.
		requestAnimationFrame(() => requestAnimationFrame(() => focus("#search")));
	},
	...Object.fromEntries(
		[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [
			String(number),
			() => {
				const at = place.value;
				const tab = tabsNow()[number - 1];
				if (at.view === "session" && tab !== undefined) go({ ...at, tab });
			},
		]),
	),
};

function focus(selector: string): void {
	document.querySelector<HTMLElement>(selector)?.focus();
}

/** Listens for shortcuts. */
export function useShortcuts(): void {
	useEffect(() => {
		const pressed = (event: KeyboardEvent): void => {
			const target = event.target as HTMLElement;
			if (event.key === "Escape" && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) target.blur();
			if (event.ctrlKey || event.metaKey || event.altKey) return;
			if (document.querySelector("dialog[open]") !== null) return;
			if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable) return;
			// Tabs and scrolling lists handle the arrow keys themselves.
			if (event.key.startsWith("Arrow") && target.closest("[role=tablist]") !== null) return;
			const does =
				views.findLast((keys) => Object.hasOwn(keys, event.key))?.[event.key] ?? everywhere[event.key];
			if (does === undefined) return;
			event.preventDefault();
			does();
		};
		addEventListener("keydown", pressed);
		return () => removeEventListener("keydown", pressed);
	}, []);
}
