// A lock on a file between processes. It is a hard link to a file that names its owner, so it exists completely or not at
// all. To break a dead owner's lock, a process takes a second lock on breaking exactly that one. A lock taken since is
// therefore never broken by mistake, and the lock of a dead breaker is broken in the same way.
import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { HoldfastError } from "@holdfast/upp";
import { type Identity, isProcessGone, ownIdentity } from "holdfast/sqlite";

/** Milliseconds to wait for a live owner, or for one on another machine, whose state is invisible here. */
const usualPatience = 10_000;

interface Owner extends Identity {
	readonly token: string;
}

let own: Identity | undefined;

/**
 * Runs `work` while this process holds the lock at `path`, a name in an existing folder.
 * @throws HoldfastError `session_store_busy` if a live process holds the lock for `patience` milliseconds.
 */
export async function withLock<T>(
	path: string,
	work: () => Promise<T>,
	patience: number = usualPatience,
): Promise<T> {
	own ??= ownIdentity();
	const owner: Owner = { token: randomUUID().slice(0, 13), ...own };
	const claim = `${path}.${owner.token}.tmp`;
	await writeFile(claim, JSON.stringify(owner), { flag: "wx", mode: 0o600 });
	try {
		await take(path, claim, own, patience);
		try {
			return await work();
		} finally {
			await rm(path, { force: true });
		}
	} finally {
		await rm(claim, { force: true });
	}
}

async function take(path: string, claim: string, self: Identity, patience: number): Promise<void> {
	let seen: { readonly token: string; readonly since: number } | undefined;
	for (;;) {
		if (await linked(claim, path)) return;
		const holder = await ownerOf(path);
		if (holder === undefined) continue;
		const now = performance.now();
		if (seen?.token !== holder.token) seen = { token: holder.token, since: now };
		const waited = now - seen.since >= patience;
		const near = holder.machine === self.machine;
		if (near ? isProcessGone(holder, self) : waited) await breakLock(path, holder.token);
		else if (waited) throw busy(holder.pid);
		else await pause(1 + Math.random() * 9);
	}
}

async function breakLock(path: string, token: string): Promise<void> {
	await withLock(`${path}.${token}`, async () => {
		if ((await ownerOf(path))?.token === token) await rm(path, { force: true });
	});
}

async function linked(from: string, to: string): Promise<boolean> {
	try {
		await link(from, to);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
}

async function ownerOf(path: string): Promise<Owner | undefined> {
	try {
		return JSON.parse(await readFile(path, "utf8")) as Owner;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}

function busy(pid: number): HoldfastError {
	return new HoldfastError(
		"session_store_busy",
		`Process ${pid} keeps the session locked and makes no progress; it may be stopped. Continue or end it, and try again.`,
		{ retryable: true, data: { pid } },
	);
}
