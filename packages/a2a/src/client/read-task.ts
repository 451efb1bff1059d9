// Derives the result of a tool call from the state of its task.
import { type Part, type Task, TaskState } from "@a2a-js/sdk";
import { type ContentBlock, HoldfastError } from "@holdfast/upp";
import { textOf } from "../parts.ts";

const names: Readonly<Record<number, string>> = {
	[TaskState.TASK_STATE_SUBMITTED]: "submitted",
	[TaskState.TASK_STATE_WORKING]: "working",
	[TaskState.TASK_STATE_COMPLETED]: "completed",
	[TaskState.TASK_STATE_FAILED]: "failed",
	[TaskState.TASK_STATE_CANCELED]: "cancelled",
	[TaskState.TASK_STATE_INPUT_REQUIRED]: "input-required",
	[TaskState.TASK_STATE_REJECTED]: "rejected",
	[TaskState.TASK_STATE_AUTH_REQUIRED]: "auth-required",
};

/** Returns the name of a state. */
export function stateName(state: TaskState | undefined): string {
	return names[state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? "unknown";
}

/**
 * Returns the result of an ended task, or the input that it requires.
 * @throws HoldfastError `a2a_task_failed`.
 */
export function readTask({ id, status, artifacts }: Task): unknown {
	const state = stateName(status?.state);
	const said = textOf(status?.message?.parts ?? []);
	if (state === "completed") {
		const parts = artifacts.flatMap((artifact) => artifact.parts);
		return readParts(parts.length === 0 ? (status?.message?.parts ?? []) : parts);
	}
	if (state === "input-required" || state === "auth-required")
		return { status: state, task: id, message: said };
	throw new HoldfastError(
		"a2a_task_failed",
		`The remote agent's task is ${state}${said === "" ? "." : `: ${said}`}`,
		{ data: { taskId: id, state } },
	);
}

/**
 * Returns the data if there is exactly one data part and no file, text if there is only text, otherwise blocks of the
 * types that a model supports.
 */
function readParts(parts: readonly Part[]): unknown {
	const data = parts.flatMap(({ content }) => (content?.$case === "data" ? [content.value] : []));
	if (
		data.length === 1 &&
		parts.every(({ content }) => content?.$case === "data" || content?.$case === "text")
	)
		return data[0];
	const blocks = parts.map(blockOf);
	if (blocks.some(({ type }) => type !== "text")) return blocks;
	return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function blockOf(part: Part): ContentBlock {
	const { content, mediaType, filename } = part;
	if (content?.$case === "raw" && content.value.length > 0) {
		const source = { type: "base64" as const, data: Buffer.from(content.value).toString("base64") };
		if (/^image\/[\w.+-]+$/.test(mediaType)) return { type: "image", source, mimeType: mediaType };
		if (mediaType === "application/pdf")
			return { type: "document", source, mimeType: mediaType, title: filename };
	}
	if (content?.$case === "raw" || content?.$case === "url") {
		const what = content.$case === "url" ? content.value : `${content.value.length} bytes`;
		return { type: "text", text: `[file ${filename} ${mediaType} ${what}]`.replaceAll("  ", " ") };
	}
	return { type: "text", text: textOf([part]) };
}
