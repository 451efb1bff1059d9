// Files attached to messages between a parent and its sub-agents: they are copied, because each thread has its own.
import type { AttachmentRef } from "../types/index.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadSystem } from "./system.ts";

/** Returns the path of the first file that a thread does not have. */
export async function missingFile(
	system: ThreadSystem,
	threadId: string,
	files: readonly AttachmentRef[],
): Promise<string | undefined> {
	if (files.length === 0) return undefined;
	const record = await system.records.get(threadId);
	if (record === undefined) return files[0]?.path;
	const own = system.parts.files(system.place(record));
	for (const { path } of files) if ((await own.statFile(path).catch(() => null)) === null) return path;
	return undefined;
}

/** Copies files into the child's files. */
export async function copyFiles(
	system: ThreadSystem,
	from: string,
	child: ThreadRecord,
	files: readonly AttachmentRef[],
): Promise<readonly AttachmentRef[]> {
	if (files.length === 0) return [];
	const parent = await system.records.get(from);
	if (parent === undefined) return [];
	return copied(system, parent, child, files);
}

async function copied(
	system: ThreadSystem,
	from: ThreadRecord,
	to: ThreadRecord,
	files: readonly AttachmentRef[],
): Promise<readonly AttachmentRef[]> {
	const source = system.parts.files(system.place(from));
	const target = system.parts.files(system.place(to));
	const made: AttachmentRef[] = [];
	for (const file of files) {
		const [stat, stream] = [await source.statFile(file.path), await source.readFileStream(file.path)];
		if (stat === null || stream === null) continue;
		const path = `/attachments/${from.id}${stat.path}`;
		const kept = await target.writeFile(path, bytesOf(stream), stat.mimeType);
		const { width, height } = stat;
		made.push({
			id: kept.path,
			type: "file",
			path: kept.path,
			name: file.name,
			mimeType: kept.mimeType,
			size: kept.size,
			...(width === undefined ? {} : { width }),
			...(height === undefined ? {} : { height }),
		});
	}
	return made;
}

async function* bytesOf(
	stream: AsyncIterable<{ readonly data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, void> {
	for await (const { data } of stream) yield data;
}

/** Copies the files that a child's session ended with into the parent's files. */
export async function broughtBack(
	system: ThreadSystem,
	parentId: string,
	id: string,
	files: readonly AttachmentRef[],
): Promise<AttachmentRef[]> {
	if (files.length === 0) return [];
	const [parent, child] = [await system.records.get(parentId), await system.records.get(id)];
	if (parent === undefined || child === undefined) return [];
	return [...(await copied(system, child, parent, files))];
}
