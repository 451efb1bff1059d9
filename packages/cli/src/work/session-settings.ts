/**
 * The settings of a session (folder, model, permissions), stored next to the database, so that `resume` continues the
 * same way from any folder. The conversation is in the journal; without this file the defaults apply.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "@holdfast/upp";
import { isServer } from "./database.ts";
import { makeOwnFolder, ownFolder } from "./own-folder.ts";

/** The settings of one session. */
export interface SessionSettings {
	/** Absolute path. */
	readonly dir: string;
	/** As given to --model. */
	readonly model: string;
	readonly allowNetwork: boolean;
	readonly allowWrite: boolean;
	readonly allowShell: boolean;
	/** Absolute path of the module of the agent that works on it; absent: the assistant does. */
	readonly agent?: string;
}

/** Returns the settings that a session last used, if they can be read. */
export function readSettings(db: string, key: string): SessionSettings | undefined {
	try {
		const read = JSON.parse(readFileSync(fileOf(db, key), "utf8")) as Partial<SessionSettings>;
		if (typeof read.dir !== "string" || typeof read.model !== "string") return undefined;
		return {
			dir: read.dir,
			model: read.model,
			allowNetwork: read.allowNetwork === true,
			allowWrite: read.allowWrite === true,
			allowShell: read.allowShell === true,
			...(typeof read.agent === "string" ? { agent: read.agent } : {}),
		};
	} catch {
		return undefined;
	}
}

/** Stores the settings of a session. */
export function writeSettings(db: string, key: string, settings: SessionSettings): void {
	writeWhole(fileOf(db, key), { key, ...settings });
}

/** Returns the name of the theme that chats use, if one is stored. */
export function readChatTheme(db: string): string | undefined {
	try {
		const { theme } = JSON.parse(readFileSync(chatFile(db), "utf8")) as { readonly theme?: unknown };
		return typeof theme === "string" ? theme : undefined;
	} catch {
		return undefined;
	}
}

/** Stores the name of the theme that chats use; undefined forgets it. */
export function writeChatTheme(db: string, theme: string | undefined): void {
	writeWhole(chatFile(db), { theme });
}

function chatFile(db: string): string {
	return join(placeOf(db), "chat.json");
}

/** Renamed, so that a crash leaves either the old or the new file. */
function writeWhole(file: string, content: object): void {
	makeOwnFolder(dirname(dirname(file)));
	makeFolder(dirname(file));
	const draft = `${file}.${process.pid}`;
	writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 });
	renameSync(draft, file);
}

/** Copies the settings of the sessions when their database is moved. */
export function copySettings(from: string, to: string): void {
	const [source, target] = [placeOf(from), placeOf(to)];
	if (!existsSync(source)) return;
	makeOwnFolder(dirname(target));
	cpSync(source, target, { recursive: true });
}

/** Next to a database file; for a server, in the folder where the command runs. */
function placeOf(db: string): string {
	return `${isServer(db) ? join(ownFolder, `postgres-${digest(db)}`) : db}.settings`;
}

function fileOf(db: string, key: string): string {
	return join(placeOf(db), `${digest(key)}.json`);
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
