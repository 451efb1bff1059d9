// Files in memory, in their stored pieces: a reader keeps the version it started with.

import { leaseLost } from "../facts/index.ts";
import {
	type FileInfo,
	type FileLimits,
	type FileStore,
	fileNotFound,
	fileTooLarge,
	pieceSize,
	piecesOf,
	rangeIn,
	type SessionFiles,
} from "./files.ts";
import { ensureSession, type Session, type Store } from "./memory-store.ts";

interface Kept {
	readonly info: FileInfo;
	readonly pieces: readonly Uint8Array[];
}

/** The files of a session by owner and name. */
type Files = Map<string, Map<string, Kept>>;

/** Returns the files stored with the sessions of a store. */
export function filesBeside(store: Store, limits: FileLimits = {}): FileStore {
	const sessions = new Map<string, Files>();
	store.deleted.push((key) => void sessions.delete(key));
	return { of: (key, owner) => filesOf(store, sessions, limits, key, owner) };
}

function filesOf(
	store: Store,
	sessions: Map<string, Files>,
	limits: FileLimits,
	key: string,
	owner: string,
): SessionFiles {
	const kept = (): Map<string, Kept> | undefined => sessions.get(key)?.get(owner);

	/** Checks that a file with this name may have this size. */
	function check(name: string, size: number): void {
		const { maxFileBytes = Number.POSITIVE_INFINITY, maxSessionBytes = Number.POSITIVE_INFINITY } = limits;
		if (size > maxFileBytes) throw fileTooLarge(name, "maxFileBytes", maxFileBytes);
		if (size > maxSessionBytes) throw fileTooLarge(name, "maxSessionBytes", maxSessionBytes);
		if (maxSessionBytes === Number.POSITIVE_INFINITY) return;
		const files = [...(sessions.get(key)?.values() ?? [])].flatMap((named) => [...named.values()]);
		const others = files.reduce((sum, { info }) => sum + info.size, 0) - (kept()?.get(name)?.info.size ?? 0);
		if (others + size > maxSessionBytes) throw fileTooLarge(name, "maxSessionBytes", maxSessionBytes);
	}

	function put(session: Session, name: string, file: Kept): void {
		if (store.sessions.get(key) !== session) throw leaseLost(key);
		check(name, file.info.size);
		const owners: Files = sessions.get(key) ?? new Map<string, Map<string, Kept>>();
		const files = owners.get(owner) ?? new Map<string, Kept>();
		sessions.set(key, owners.set(owner, files.set(name, file)));
	}

	return {
		async write(name, source) {
			const session = ensureSession(store, key);
			const pieces: Uint8Array[] = [];
			let size = 0;
			for await (const piece of piecesOf(source)) {
				size += piece.length;
				check(name, size);
				pieces.push(piece.slice());
			}
			const info = { name, size, at: store.clock.now() };
			put(session, name, { info, pieces });
			return info;
		},
		async *read(name, range = {}) {
			const file = kept()?.get(name);
			if (file === undefined) throw fileNotFound(name);
			const { start, end } = rangeIn(file.info.size, range);
			for (let at = start; at < end; ) {
				const piece = file.pieces[Math.floor(at / pieceSize)] as Uint8Array;
				const from = at % pieceSize;
				const part = piece.slice(from, from + end - at);
				yield part;
				at += part.length;
			}
		},
		stat: (name) => kept()?.get(name)?.info,
		list: () =>
			[...(kept()?.values() ?? [])]
				.map(({ info }) => info)
				.sort((one, other) => (one.name < other.name ? -1 : 1)),
		delete: (name) => kept()?.delete(name) ?? false,
	};
}
