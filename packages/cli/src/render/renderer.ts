/** Renderers of a running execution: one interface, with implementations for terminals, pipes and programs. */
import type { RunEvent, RunResult } from "holdfast";
import type { Proposal } from "./proposal.ts";

/** The data known before a run starts. */
export interface RunHeader {
	readonly sessionKey: string;
	readonly model: string;
	/** Why the model was chosen, when it was not asked for. */
	readonly reason: string | undefined;
	readonly dir: string;
	/** Files of the repository whose instructions the assistant follows, relative to `dir`. */
	readonly instructions?: readonly string[];
}

/** How a run ended, for its last lines. */
export interface RunSummary {
	readonly result: RunResult;
	readonly exitCode: number;
	readonly header: RunHeader;
	/** Milliseconds this process worked on it. */
	readonly duration: number;
	/** Commands the user may want next. */
	readonly resumeCommand: string;
	readonly showCommand: string;
	readonly continueCommand: string;
	/** The command that continues a run that waits for a time, or for its model. */
	readonly workCommand: string;
	/** The words that approve the calls that wait. */
	readonly waiting: readonly string[];
}

/** Shows a run. */
export interface Renderer {
	begin(header: RunHeader): void;
	event(event: RunEvent): void;
	/** A call that waits for approval, and what it would do. */
	proposed(proposal: Proposal): void;
	/** A line of our own between the events. */
	note(text: string): void;
	end(summary: RunSummary): void;
}
