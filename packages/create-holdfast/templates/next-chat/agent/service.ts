// The chats: sessions in SQLite, behind the routes that useChat calls. Created once per process.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { createHandler, type Handler, sessionService } from "@holdfast/server";
import { sqliteHost } from "holdfast/sqlite";
import { assistant } from "./agent.ts";

const database = process.env.DATABASE ?? ".holdfast/chats.db";

async function open(): Promise<Handler> {
	mkdirSync(dirname(database), { recursive: true });
	const service = sessionService({ host: sqliteHost(database), agent: assistant });
	await service.supervise();
	// Without `authenticate` it only accepts requests from this machine. Before you deploy, authenticate callers with
	// your own log-in: authenticate: async (request) => ({ tenant: "my-app", user: await userOf(request) })
	return createHandler({ service });
}

// Next may load this file several times, and again after a change.
const shared = globalThis as { chats?: Promise<Handler> };

/** The routes of the chats. */
export function chats(): Promise<Handler> {
	shared.chats ??= open();
	return shared.chats;
}
