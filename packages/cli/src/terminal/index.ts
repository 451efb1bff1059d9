/** Entry point of the terminal module: input and output of a command, and formats of numbers, times and names. */
export {
	counted,
	formatArguments,
	formatBytes,
	formatCost,
	formatCount,
	formatDuration,
	formatTime,
	oneLine,
	pictured,
	printable,
	quoted,
	sessionKeyFor,
	spelledOut,
	summarise,
} from "./format.ts";
export { type CommandIo, type Ending, type Output, processIo, type Questions } from "./io.ts";
export { leaveProcess } from "./leave-process.ts";
export { longestPiped } from "./piped-text.ts";
export { fitted, wrapped, wrappedLine } from "./wrapped.ts";
