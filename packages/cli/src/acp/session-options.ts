/**
 * What the user of an editor sets for a session: the mode, which decides about changes and commands, and the assistant's
 * model. The mode is in memory only, so a session that is opened again asks again.
 */
import {
	RequestError,
	type SessionConfigOption,
	type SessionModeState,
} from "@agentclientprotocol/sdk/unstable";
import type { Proposal } from "../render/index.ts";
import { modelsByKey, type Setup } from "../work/index.ts";

/** Who decides about changes and commands. */
export type Mode = "ask" | "accept_edits" | "read_only";

const modes: Readonly<Record<Mode, { readonly name: string; readonly description: string }>> = {
	ask: { name: "Ask", description: "Asks before each change and each command." },
	accept_edits: {
		name: "Accept edits",
		description: "Changes files in the folder without asking. Commands still need permission.",
	},
	read_only: { name: "Read only", description: "Refuses changes and commands." },
};

/** Whether a text is a mode. */
export function isMode(value: unknown): value is Mode {
	return typeof value === "string" && Object.hasOwn(modes, value);
}

/** What a mode decides about a call; undefined: the user does. */
export function decisionOf(mode: Mode, { change, command }: Proposal): "approved" | "denied" | undefined {
	switch (mode) {
		case "ask":
			return undefined;
		case "accept_edits":
			return change === undefined ? undefined : "approved";
		case "read_only":
			return change === undefined && command === undefined ? undefined : "denied";
		default:
			return mode satisfies never;
	}
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Options as the protocol's modes and as its configuration options, which replace them. Editors use one of the two. */
export interface Offered {
	readonly modes?: SessionModeState;
	readonly configOptions?: SessionConfigOption[];
}

/** Returns the options of a session. A user's agent has none: its file defines everything. */
export function offeredOptions(setup: Setup, mode: Mode, environment: Environment): Offered {
	if (setup.agent !== undefined) return {};
	const model: SessionConfigOption = {
		id: "model",
		name: "Model",
		category: "model",
		type: "select",
		currentValue: setup.model.name,
		options: modelNames(setup, environment).map((name) => ({ value: name, name })),
	};
	// Without a permission to change anything, the modes would do nothing.
	if (!setup.allowWrite && !setup.allowShell) return { configOptions: [model] };
	const options = Object.entries(modes).map(([id, { name, description }]) => ({ id, name, description }));
	return {
		modes: { currentModeId: mode, availableModes: options },
		configOptions: [
			{
				id: "mode",
				name: "Mode",
				category: "mode",
				type: "select",
				currentValue: mode,
				options: options.map(({ id, ...option }) => ({ value: id, ...option })),
			},
			model,
		],
	};
}

/** The current model, those with a key, and the offline one. */
function modelNames({ model }: Setup, environment: Environment): readonly string[] {
	const withKeys = modelsByKey(environment).map(({ name }) => name);
	return [...new Set([model.name, ...withKeys, "offline"])];
}

/**
 * Reads an option that the editor sets.
 * @throws RequestError "Invalid params" for an option or a value that was not offered.
 */
export function chosenOption(
	offered: Offered,
	configId: string,
	value: unknown,
): { readonly mode: Mode } | { readonly model: string } {
	const option = offered.configOptions?.find(({ id }) => id === configId);
	const values = option?.type === "select" ? option.options : [];
	const isOffered = values.some((each) => "value" in each && each.value === value);
	if (!isOffered)
		throw RequestError.invalidParams({ configId, value }, "This session does not offer this value.");
	return isMode(value) && configId === "mode" ? { mode: value } : { model: String(value) };
}
