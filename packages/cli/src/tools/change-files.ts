/**
 * The tools `write_file` and `edit_file`. A call runs only with an approval that identifies both versions of the file. It
 * replaces the first version with the second, succeeds if the file already is the second, and leaves any other content
 * alone. So it can be repeated after a crash and never changes a file twice.
 */
import { createHash } from "node:crypto";
import { type AssistantTool, type AssistantToolContext, ToolRefusal } from "./assistant-tool.ts";
import { type ChangingTool, currentVersion, placeOf, planChange, type Versions } from "./planned-change.ts";
import { removeDraft, replaceFile } from "./replace-file.ts";
import type { TextFiles } from "./text-files.ts";

const path = { type: "string", description: "The file, relative to the working directory." };

/** Creates `write_file` and `edit_file` for one root directory. */
export function createChangeFiles(root: string, textFiles: TextFiles): AssistantTool[] {
	let last: Promise<unknown> = Promise.resolve();
	/** Runs changes one after another, so that each sees the result of those before it. */
	const inTurn = <Value>(change: () => Promise<Value>): Promise<Value> => {
		const made = last.then(change);
		last = made.catch(() => {});
		return made;
	};
	const shared = (name: ChangingTool) => ({
		name,
		retryPolicy: "idempotent" as const,
		maxModelCharacters: 10_000,
		editableApproval: true,
		// A change that is impossible or has no effect requires no approval: it runs, and the model receives the reason.
		needsApproval: (params: Record<string, unknown>): Promise<boolean> =>
			planChange(root, name, params).then(
				({ versions }) => versions.before !== versions.after,
				() => false,
			),
		run: (params: Record<string, unknown>, context?: AssistantToolContext): Promise<string> =>
			inTurn(() => change(root, name, params, context, textFiles)),
	});
	return [
		{
			...shared("write_file"),
			description:
				"Create a text file, or replace all of it. Missing folders are created. To change a part of a file, use edit_file.",
			parameters: {
				type: "object",
				properties: { path, content: { type: "string", description: "The complete new text of the file." } },
				required: ["path", "content"],
				additionalProperties: false,
			},
		},
		{
			...shared("edit_file"),
			description:
				'Replace a piece of a text file. "find" must be in the file exactly once, character by character; give as many ' +
				'lines as make it unique, or set "all".',
			parameters: {
				type: "object",
				properties: {
					path,
					find: { type: "string", description: "The text to replace, without line numbers." },
					replace: { type: "string", description: "The replacement; empty to delete the text." },
					all: {
						type: "boolean",
						description: "Replace every occurrence (default: there must be just one).",
					},
				},
				required: ["path", "find", "replace"],
				additionalProperties: false,
			},
		},
	];
}

async function change(
	root: string,
	tool: ChangingTool,
	params: Record<string, unknown>,
	context: AssistantToolContext | undefined,
	textFiles: TextFiles,
): Promise<string> {
	const approved = versionsOf(context?.approval?.basis);
	const found = await placeOf(root, params);
	const draft = createHash("sha256")
		.update(context?.idempotencyKey ?? "")
		.digest("hex")
		.slice(0, 24);
	if (approved !== undefined) {
		// An interrupted attempt may have left its draft or the finished file.
		await removeDraft(found, draft);
		const current = await currentVersion(found);
		if (current === approved.after) return `${found.relative} now matches the approved version.`;
		if (current !== approved.before) throw changed(found.relative);
	}
	const { place, after, versions, done } = await planChange(root, tool, params);
	if (versions.before === versions.after) return `${place.relative} already has this content.`;
	if (approved?.before !== versions.before || approved.after !== versions.after)
		throw changed(place.relative);
	await replaceFile(place, {
		text: after,
		draft,
		async stillHolds() {
			if ((await currentVersion(place)) !== versions.before) throw changed(place.relative);
		},
	});
	textFiles.forget(place.absolute);
	return done;
}

function versionsOf(basis: unknown): Versions | undefined {
	const { before, after } = (basis ?? {}) as Partial<Versions>;
	return typeof after === "string" && (before === null || typeof before === "string")
		? { before, after }
		: undefined;
}

function changed(relative: string): ToolRefusal {
	return new ToolRefusal(
		"file_changed",
		`"${relative}" has changed since this change was approved, so nothing was written. Read it again, and repeat the call ` +
			"if the change is still wanted.",
	);
}
