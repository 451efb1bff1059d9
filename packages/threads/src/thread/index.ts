// Door of threads.
export type { ThreadLog, ThreadLogger } from "./logs.ts";
export type {
	EffectsPart,
	EnvironmentPart,
	EnvironmentScope,
	FilesPart,
	ThreadParts,
	ThreadPlace,
	ValuesPart,
} from "./parts.ts";
export type { ListThreads, ParentLink, ThreadRecord } from "./records.ts";
export {
	type CreateThreadOptions,
	type ThreadListener,
	Threads,
	type ThreadsOptions,
	threads,
} from "./threads.ts";
