// The parts of the process's lifecycle that concern the runtime: its end, and warnings to the operator.
import type { HoldfastError } from "@holdfast/upp";

/** The end of the process. */
export interface Lifetime {
	/**
	 * Calls `ending` when the process ends. The process does not wait for asynchronous work. Registering a function twice
	 * still calls it once.
	 */
	watchEnd(ending: () => void): void;
	/** Removes the callback. Has no effect if it was not registered. */
	ignoreEnd(ending: () => void): void;
}

/** Receives warnings: nothing failed, but the operator should be informed. `code` identifies the subject. */
export type Warn = (warning: HoldfastError) => void;

/** The parts of Node's process that a platform may have. */
interface PlatformProcess {
	once?(event: "exit", ending: () => void): unknown;
	emitWarning?(warning: Error): void;
}

const endings = new Set<() => void>();
let state: "unwatched" | "watched" | "ending" = "unwatched";

/**
 * The end of the process, if the platform announces it. All share one listener, because a process may have thousands of
 * agents.
 */
export const systemLifetime: Lifetime = {
	watchEnd(ending) {
		endings.add(ending);
		if (state !== "unwatched") return;
		state = "watched";
		platformProcess()?.once?.("exit", () => {
			state = "ending";
			for (const each of endings) each();
		});
	},
	ignoreEnd: (ending) => void endings.delete(ending),
};

/** Emits a process warning if the platform has them, otherwise logs a line on the console. */
export const systemWarn: Warn = (warning) => {
	const process = platformProcess();
	// A process that is ending never performs deferred writes.
	if (process?.emitWarning === undefined || state === "ending") {
		console.warn(`Warning [${warning.code}]: ${warning.message}`);
		return;
	}
	process.emitWarning(Object.defineProperty(warning, "name", { value: "HoldfastWarning" }));
};

function platformProcess(): PlatformProcess | undefined {
	return (globalThis as { process?: PlatformProcess }).process;
}
