/** Renderers of a running execution: one interface, with implementations for terminals, pipes and programs. */
import type { RunEvent, RunResult } from "holdfast";
import type { Proposal } from "./proposal.ts";

/** The data known before a run starts. */
export interface RunHeader {
	readonly sessionKey: string;
	readonly model: string;
	/** Why the model was chosen, if the user did not choose it. */
	readonly reason: string | undefined;
	readonly dir: string;
	/** The instruction files that the assistant follows, relative to `dir`. */
	readonly instructions?: readonly string[];
}

/** How a run ended, for its last lines. */
export interface RunSummary {
	readonly result: RunResult;
	readonly exitCode: number;
	readonly header: RunHeader;
	/** Milliseconds that this process worked on it. */
	readonly duration: number;
	/** Commands the user may want to run next. */
	readonly resumeCommand: string;
	readonly showCommand: string;
	readonly continueCommand: string;
	/** The command that continues a run that waits for a time or for its model. */
	readonly workCommand: string;
	/** The identifiers that approve the waiting calls. */
	readonly waiting: readonly string[];
}

/** Renders a run. */
export interface Renderer {
	begin(header: RunHeader): void;
	event(event: RunEvent): void;
	/** Shows a call that waits for approval, and its effect. */
	proposed(proposal: Proposal): void;
	/** Prints a line between the events. */
	note(text: string): void;
	end(summary: RunSummary): void;
}
