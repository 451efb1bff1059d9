// @holdfast/testing/cases: what the cases of the contracts are written with, for cases of your own.
export { expectWhole, oddIds, stateOf } from "./checkpoint/index.ts";
export {
	append,
	begin,
	ended,
	eventually,
	input,
	note,
	notes,
	rejects,
	same,
	started,
	take,
} from "./journal/index.ts";
export { oddKeys } from "./session-store/index.ts";
