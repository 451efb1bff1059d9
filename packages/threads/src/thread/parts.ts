// The parts of a thread in addition to its session: each part is owned by its own folder, and threads depend only on
// these interfaces.

import type { Redaction } from "../environment/index.ts";
import type { AttachmentRef, NamespaceContext, ThreadState, ToolAttachment } from "../types/index.ts";
import type { ThreadRecord } from "./records.ts";

/** The thread that a part belongs to. */
export interface ThreadPlace {
	readonly threadId: string;
	/** The key of its session in the store. */
	readonly storeKey: string;
	/** Its record when the part was requested. */
	readonly record: ThreadRecord;
}

/** File methods. */
export type FileMethods = Pick<
	ThreadState,
	| "writeFile"
	| "readFile"
	| "readFileStream"
	| "statFile"
	| "readdirFile"
	| "unlinkFile"
	| "mkdirFile"
	| "rmdirFile"
	| "getFileStats"
	| "grepFiles"
	| "findFiles"
	| "getFileThumbnail"
>;

/** File methods, and attachments of messages. */
export interface FilesPart extends FileMethods {
	/** Stores attachments. */
	storeAttachments(attachments: readonly ToolAttachment[]): Promise<AttachmentRef[]>;
}

/** Key-value methods. */
export type ValuesPart = Pick<ThreadState, "getValue" | "setValue">;

/** Effect methods. */
export type EffectsPart = Pick<
	ThreadState,
	"scheduleEffect" | "getScheduledEffects" | "removeScheduledEffect"
>;

/** The environment of a thread, as seen by one agent and one prompt. */
export interface EnvironmentPart extends Pick<ThreadState, "env" | "envType" | "setEnv"> {
	/** Returns the value of a name; undefined if no source has it. */
	find(name: string): Promise<{ readonly value: string; readonly type: "text" | "secret" } | undefined>;
	/** Returns the same data with every secret value masked. */
	redact<Value>(data: Value): Value | Promise<Value>;
	/** The same for streamed text. Default: streamed text is not changed. */
	redaction?(): Redaction | Promise<Redaction>;
}

/** Which definitions are included: they come between the thread's values and those of the user. */
export interface EnvironmentScope {
	/** The values that the agent's definition sets. */
	readonly agent?: Readonly<Record<string, string>> | undefined;
	/** The values that the prompt's definition sets. */
	readonly prompt?: Readonly<Record<string, string>> | undefined;
	/** Values of the agent's other definitions: not readable by name here, but masked too. */
	readonly masked?: readonly Readonly<Record<string, string>>[] | undefined;
}

/** The parts of threads. */
export interface ThreadParts {
	/** Returns the files of a thread. */
	files(thread: ThreadPlace): FilesPart;
	/** Returns the key-value pairs of a thread. */
	values(thread: ThreadPlace): ValuesPart;
	/** `namespace`: that of the calling code, for the names of effects. Default: the project's own. */
	effects(thread: ThreadPlace, namespace?: NamespaceContext): EffectsPart;
	/** Returns the environment of a thread, including these definitions. */
	environment(thread: ThreadPlace, scope: EnvironmentScope): EnvironmentPart;
}
