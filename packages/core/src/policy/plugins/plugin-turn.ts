// A turn as plugins see it, and plugins as sessions see them.
import type { Message } from "@holdfast/upp";
import type { RunOutcome, SendInput } from "../../facts/index.ts";
import type { Interceptors } from "../interceptors.ts";

/** A turn as plugins see it. */
export interface PluginTurn {
	readonly sessionKey: string;
	/** Fires when the run is told to stop. */
	readonly signal: AbortSignal;
	/** The conversation as committed. */
	history(): readonly Message[];
	/** From 0. */
	stepIndex(): number;
	/** Shows the model something for the rest of the turn. */
	overlay(input: SendInput): Promise<void>;
	/** Says something to the turn. */
	steer(input: SendInput): Promise<unknown>;
}

/** The plugins of an agent, set up. */
export interface SessionPlugins {
	/** Where they step in; only what some plugin listens to. */
	interceptors(turn: PluginTurn, tools?: "engine-tools" | "own-tools"): Interceptors;
	/** The turn is over. Never rejects. */
	turnAfter(turn: PluginTurn, result: RunOutcome): Promise<void>;
	/** Tells whoever looks on. Never throws. */
	tell(event: unknown, turn: PluginTurn): void;
	/** Deletes what plugins keep for a session. */
	deleted(sessionKey: string): Promise<void>;
}
