// The sessions of a server without any: its routes serve something else, and no session is found.
import { HoldfastError } from "holdfast";
import { recovery } from "holdfast/execute";
import type { SessionService } from "./service-types.ts";

function notFound(): HoldfastError {
	return new HoldfastError("session_not_found", "Session not found");
}

export const noSessions: SessionService = {
	submit: async () => Promise.reject(notFound()),
	get: async () => undefined,
	list: async () => ({ sessions: [] }),
	// biome-ignore lint/correctness/useYield: there is nothing to follow.
	async *follow() {
		throw notFound();
	},
	stop: async () => Promise.reject(notFound()),
	delete: async () => Promise.reject(notFound()),
	recover: () => recovery(async function* () {}),
	supervise: async () => {},
	async *work() {},
	close: async () => {},
};
