// The actions that the server allows this page. They are loaded before any view that depends on them.
import { signal } from "@preact/signals";
import type { InspectorAbout } from "../wire/index.ts";
import { ask, isOver, pause, Refused } from "./api.ts";

/** Undefined until the server has answered. */
export const about = signal<InspectorAbout | undefined>(undefined);

/** Whether the listed sessions are threads of a project. */
export function areThreads(): boolean {
	return about.value?.kind === "threads";
}

/** Whether requests can be tried. */
export function hasPlayground(): boolean {
	return (about.value?.playground ?? "off") !== "off";
}

/** Retries until the answer arrives or the signal fires. */
export async function learnAbout(signal: AbortSignal): Promise<void> {
	while (!signal.aborted) {
		try {
			about.value = await ask<InspectorAbout>("/api/inspect/about", signal);
			return;
		} catch (error) {
			if (isOver(error)) return;
			if (error instanceof Refused && (error.status === 401 || error.status === 403)) return;
			await pause(500, signal);
		}
	}
}
